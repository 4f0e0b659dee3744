use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Error, World};

/// A kind of failure.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The operation fails with ProvisionedThroughputExceededException, or with ThrottlingException if it is an operation
    /// on tables. [`Fault::exception`] sets another error.
    Throttle,
    /// The operation fails with InternalServerError, HTTP status 500.
    InternalServerError,
    /// The response arrives late by [`Fault::delay`] of real time.
    Latency,
    /// The connection closes without a response.
    ConnectionClosed,
    /// A batch operation leaves its last [`Fault::items`] items unprocessed. Default: all of its items.
    Unprocessed,
    /// The operation fails with TransactionCanceledException or TransactionConflictException.
    TransactionConflict,
    /// An eventually consistent read lags behind by up to [`Fault::writes`] or [`Fault::delay`].
    StaleReads,
    /// The operation fails with ReplicatedWriteConflictException.
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
    /// Creates a rule that applies to every operation, every time.
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

    /// Limits the rule to an operation, such as `PutItem`.
    pub fn operation(mut self, name: impl Into<String>) -> Fault {
        self.operation = Some(name.into());
        self
    }

    /// Limits the rule to a table.
    pub fn table(mut self, name: impl Into<String>) -> Fault {
        self.table = Some(name.into());
        self
    }

    /// Sets the error of [`FaultKind::Throttle`]: ProvisionedThroughputExceededException, ThrottlingException or
    /// RequestLimitExceeded. The default is the error that AWS would return.
    pub fn exception(mut self, name: impl Into<String>) -> Fault {
        self.exception = Some(name.into());
        self
    }

    /// For [`FaultKind::InternalServerError`] and [`FaultKind::ConnectionClosed`], sets whether the operation takes
    /// effect although the client gets an error. Default: false. For [`FaultKind::Latency`], sets whether a write takes
    /// effect before the delay rather than after it. Default: true.
    pub fn applied(mut self, applied: bool) -> Fault {
        self.applied = Some(applied);
        self
    }

    /// Sets the delay of [`FaultKind::Latency`] in real time, or the lag of [`FaultKind::StaleReads`] on the world's clock.
    /// Both are truncated to milliseconds.
    pub fn delay(mut self, delay: Duration) -> Fault {
        self.milliseconds = Some(delay.as_millis() as u64);
        self
    }

    /// Sets how many commits a read can lag behind with [`FaultKind::StaleReads`].
    pub fn writes(mut self, writes: u64) -> Fault {
        self.writes = Some(writes);
        self
    }

    /// Sets how many items [`FaultKind::Unprocessed`] leaves unprocessed. Default: all.
    pub fn items(mut self, items: u64) -> Fault {
        self.items = Some(items);
        self
    }

    /// Limits how many operations the rule applies to. Default: all that match.
    pub fn count(mut self, count: u64) -> Fault {
        self.count = Some(count);
        self
    }

    /// Sets the probability, 0 to 1, with which the rule applies to an operation that matches. The same seed selects the
    /// same operations. Default: 1.
    pub fn probability(mut self, probability: f64, seed: u64) -> Fault {
        self.probability = Some(probability);
        self.seed = Some(seed);
        self
    }
}

/// A fault rule, with the number of operations that it matched and the number that it was applied to.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct FaultCount {
    /// The rule.
    #[serde(flatten)]
    pub fault: Fault,
    /// The number of operations that the rule matched.
    pub asked: u64,
    /// The number of operations that the rule was applied to.
    pub struck: u64,
}

impl World {
    /// Replaces all fault rules of the world. If several rules match an operation, only the first one applies, except
    /// that the delays of all matching latency rules add up.
    pub async fn faults(&self, rules: impl IntoIterator<Item = Fault>) -> Result<(), Error> {
        let rules: Vec<Fault> = rules.into_iter().collect();
        self.account.call("PUT", "/faults", json!({"rules": rules})).await.map(drop)
    }

    /// Removes all fault rules of the world.
    pub async fn clear_faults(&self) -> Result<(), Error> {
        self.account.call("DELETE", "/faults", Value::Null).await.map(drop)
    }

    /// Returns all rules, each with the number of operations that it matched and the number that it was applied to.
    pub async fn fault_counts(&self) -> Result<Vec<FaultCount>, Error> {
        #[derive(Deserialize)]
        struct Rules {
            rules: Vec<FaultCount>,
        }
        let answer: Rules = self.account.control("GET", "/faults", Value::Null).await?;
        Ok(answer.rules)
    }
}
