use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Error, World};

/// How an operation fails, or how its answer differs.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// ProvisionedThroughputExceededException; for operations on tables, ThrottlingException. [`Fault::exception`] sets
    /// another one.
    Throttle,
    /// InternalServerError, HTTP status 500.
    InternalServerError,
    /// The answer arrives [`Fault::delay`] later.
    Latency,
    /// The connection closes without an answer.
    ConnectionClosed,
    /// A batch leaves its last [`Fault::items`] unprocessed, by default all.
    Unprocessed,
    /// TransactionCanceledException or TransactionConflictException.
    TransactionConflict,
    /// An eventually consistent read lags [`Fault::writes`] or [`Fault::delay`] behind.
    StaleReads,
    /// ReplicatedWriteConflictException.
    ReplicatedWriteConflict,
}

/// A rule that makes operations fail.
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
    applied: Option<bool>,
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
    /// A rule that applies to every operation, every time.
    pub fn new(fault: FaultKind) -> Fault {
        Fault {
            fault,
            operation: None,
            table: None,
            exception: None,
            applied: None,
            milliseconds: None,
            writes: None,
            items: None,
            count: None,
            probability: None,
            seed: None,
        }
    }

    /// Applies it only to this operation, such as `PutItem`.
    pub fn operation(mut self, name: impl Into<String>) -> Fault {
        self.operation = Some(name.into());
        self
    }

    /// Applies it only to this table.
    pub fn table(mut self, name: impl Into<String>) -> Fault {
        self.table = Some(name.into());
        self
    }

    /// The exception of [`FaultKind::Throttle`]: ProvisionedThroughputExceededException, ThrottlingException or
    /// RequestLimitExceeded.
    pub fn exception(mut self, name: impl Into<String>) -> Fault {
        self.exception = Some(name.into());
        self
    }

    /// Whether the operation is applied although the client does not hear of it: for [`FaultKind::InternalServerError`],
    /// [`FaultKind::ConnectionClosed`] and [`FaultKind::Latency`]. By default only an operation with latency is, before the
    /// delay.
    pub fn applied(mut self, applied: bool) -> Fault {
        self.applied = Some(applied);
        self
    }

    /// The delay of [`FaultKind::Latency`], or the lag of [`FaultKind::StaleReads`] on the world's clock; to the millisecond.
    pub fn delay(mut self, delay: Duration) -> Fault {
        self.milliseconds = Some(delay.as_millis() as u64);
        self
    }

    /// The lag of [`FaultKind::StaleReads`] in commits.
    pub fn writes(mut self, writes: u64) -> Fault {
        self.writes = Some(writes);
        self
    }

    /// The number of items that [`FaultKind::Unprocessed`] leaves.
    pub fn items(mut self, items: u64) -> Fault {
        self.items = Some(items);
        self
    }

    /// Applies it at most that often.
    pub fn count(mut self, count: u64) -> Fault {
        self.count = Some(count);
        self
    }

    /// Applies it with that probability, 0 to 1. The same seed selects the same operations.
    pub fn probability(mut self, probability: f64, seed: u64) -> Fault {
        self.probability = Some(probability);
        self.seed = Some(seed);
        self
    }
}

/// A rule and how often it was applied.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct FaultCount {
    /// The rule.
    #[serde(flatten)]
    pub fault: Fault,
    /// The number of operations that the rule matched.
    pub asked: u64,
    /// The number of those that it was applied to.
    pub struck: u64,
}

impl World {
    /// Replaces the world's rules. The first rule that matches an operation is applied; latencies add up.
    pub async fn faults(&self, rules: impl IntoIterator<Item = Fault>) -> Result<(), Error> {
        let rules: Vec<Fault> = rules.into_iter().collect();
        self.account.call("PUT", "/faults", json!({"rules": rules})).await.map(drop)
    }

    /// Removes all rules.
    pub async fn clear_faults(&self) -> Result<(), Error> {
        self.account.call("DELETE", "/faults", Value::Null).await.map(drop)
    }

    /// All rules, and how often each one matched and was applied.
    pub async fn fault_counts(&self) -> Result<Vec<FaultCount>, Error> {
        #[derive(Deserialize)]
        struct Rules {
            rules: Vec<FaultCount>,
        }
        let answer: Rules = self.account.control("GET", "/faults", Value::Null).await?;
        Ok(answer.rules)
    }
}
