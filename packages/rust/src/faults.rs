use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Error, World};

/// What the client gets.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// ProvisionedThroughputExceededException, of operations on tables ThrottlingException; [`Fault::exception`] chooses.
    Throttle,
    /// InternalServerError, HTTP status 500.
    InternalServerError,
    /// Its answer, [`Fault::delay`] later.
    Latency,
    /// A batch whose last [`Fault::items`] (else all) are left.
    Unprocessed,
    /// TransactionCanceledException or TransactionConflictException.
    TransactionConflict,
    /// Of an eventually consistent read what was true [`Fault::writes`] or [`Fault::delay`] ago.
    StaleReads,
    /// ReplicatedWriteConflictException.
    ReplicatedWriteConflict,
}

/// A rule by which operations fail.
///
/// ```
/// use mayfly::{Fault, FaultKind};
///
/// let twice = Fault::new(FaultKind::Throttle).operation("PutItem").table("carts").count(2);
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Fault {
    fault: FaultKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exception: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

impl Fault {
    /// A rule that fits every operation, and strikes always.
    pub fn new(fault: FaultKind) -> Fault {
        Fault {
            fault,
            operation: None,
            table: None,
            exception: None,
            milliseconds: None,
            writes: None,
            items: None,
            count: None,
            probability: None,
            seed: None,
        }
    }

    /// Only this operation: `PutItem`.
    pub fn operation(mut self, name: impl Into<String>) -> Fault {
        self.operation = Some(name.into());
        self
    }

    /// Only this table.
    pub fn table(mut self, name: impl Into<String>) -> Fault {
        self.table = Some(name.into());
        self
    }

    /// Of [`FaultKind::Throttle`]: ProvisionedThroughputExceededException, ThrottlingException or RequestLimitExceeded.
    pub fn exception(mut self, name: impl Into<String>) -> Fault {
        self.exception = Some(name.into());
        self
    }

    /// Of [`FaultKind::Latency`], and of [`FaultKind::StaleReads`] by the world's clock; to the millisecond.
    pub fn delay(mut self, delay: Duration) -> Fault {
        self.milliseconds = Some(delay.as_millis() as u64);
        self
    }

    /// Of [`FaultKind::StaleReads`]: how many commits a read may be behind.
    pub fn writes(mut self, writes: u64) -> Fault {
        self.writes = Some(writes);
        self
    }

    /// Of [`FaultKind::Unprocessed`]: how many are left.
    pub fn items(mut self, items: u64) -> Fault {
        self.items = Some(items);
        self
    }

    /// How often it strikes.
    pub fn count(mut self, count: u64) -> Fault {
        self.count = Some(count);
        self
    }

    /// How likely it strikes, 0 to 1; the seed says when, the same way each time.
    pub fn probability(mut self, probability: f64, seed: u64) -> Fault {
        self.probability = Some(probability);
        self.seed = Some(seed);
        self
    }
}

/// A rule, and what became of it.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct FaultCount {
    /// The rule.
    #[serde(flatten)]
    pub fault: Fault,
    /// How many operations it fitted.
    pub asked: u64,
    /// How many of them failed by it.
    pub struck: u64,
}

impl World {
    /// Has the world fail by these rules and no others. The first one that fits strikes; latencies add up.
    pub async fn faults(&self, rules: impl IntoIterator<Item = Fault>) -> Result<(), Error> {
        let rules: Vec<Fault> = rules.into_iter().collect();
        self.account.call("PUT", "/faults", json!({"rules": rules})).await.map(drop)
    }

    /// Has nothing fail.
    pub async fn clear_faults(&self) -> Result<(), Error> {
        self.account.call("DELETE", "/faults", Value::Null).await.map(drop)
    }

    /// How often each rule was asked and struck.
    pub async fn fault_counts(&self) -> Result<Vec<FaultCount>, Error> {
        #[derive(Deserialize)]
        struct Rules {
            rules: Vec<FaultCount>,
        }
        let answer: Rules = self.account.control("GET", "/faults", Value::Null).await?;
        Ok(answer.rules)
    }
}
