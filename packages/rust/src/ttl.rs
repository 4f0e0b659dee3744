use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::world::{Account, segment};
use crate::{Error, Item, Key, instant};

/// A table's time to live: when what is due is deleted, and why an item is not. [`World::ttl`](crate::World::ttl) makes one.
pub struct Ttl {
    pub(crate) account: Arc<Account>,
    pub(crate) table: String,
}

/// When items that are due are deleted.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TtlMode {
    /// At once, as a table begins.
    Exact,
    /// Later, as on AWS.
    Aws,
    /// When [`Ttl::sweep`] says so.
    Manual,
}

/// What there is to say of a table's time to live.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct TtlStatus {
    /// `ENABLED` or `DISABLED`.
    pub status: String,
    /// None: it is disabled.
    pub attribute: Option<String>,
    /// When what is due is deleted.
    pub mode: TtlMode,
    /// Of the mode aws: the least and the most.
    pub delay_seconds: Option<(f64, f64)>,
    /// How many items will expire.
    pub pending: u64,
    /// For how many of them the time has come.
    pub due: u64,
    /// None: there is none.
    #[serde(default, deserialize_with = "instant::read_optional")]
    pub next_due: Option<SystemTime>,
    /// How many were deleted since the server started.
    pub expired: u64,
    /// How many of them were due when they were written.
    pub born_expired: u64,
}

/// An item that will expire.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Upcoming {
    /// Its key.
    pub key: Item,
    /// When its time comes.
    #[serde(deserialize_with = "instant::read")]
    pub due: SystemTime,
    /// When it is deleted; None: at the next [`Ttl::sweep`].
    #[serde(default, deserialize_with = "instant::read_optional")]
    pub expires_at: Option<SystemTime>,
}

/// Why an item is still there, or is not.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// `due`, `not_due`, `delayed`, `expired`, `born_expired`, `no_item`, `no_attribute`, `not_a_number`, `milliseconds`,
    /// `too_old` or `ttl_disabled`.
    pub reason: String,
    /// None: never, or at the next [`Ttl::sweep`].
    #[serde(default, deserialize_with = "instant::read_optional")]
    pub expires_at: Option<SystemTime>,
    /// A sentence.
    pub message: String,
}

impl Ttl {
    /// Tells all of it.
    pub async fn status(&self) -> Result<TtlStatus, Error> {
        self.account.control("GET", &self.path(""), Value::Null).await
    }

    /// Has items deleted at the instant at which they are due, as a table begins.
    pub async fn exact(&self) -> Result<(), Error> {
        self.set(json!({"mode": TtlMode::Exact})).await
    }

    /// Has them deleted by [`Ttl::sweep`] alone.
    pub async fn manual(&self) -> Result<(), Error> {
        self.set(json!({"mode": TtlMode::Manual})).await
    }

    /// Has them deleted late, as AWS does; each by a delay between the two, whole seconds, that is drawn from the seed.
    pub async fn aws(&self, least: Duration, most: Duration, seed: u64) -> Result<(), Error> {
        let delay = [least.as_secs(), most.as_secs()];
        self.set(json!({"mode": TtlMode::Aws, "delay_seconds": delay, "seed": seed})).await
    }

    /// Deletes what is due now, in every mode, and answers how many that were.
    pub async fn sweep(&self) -> Result<u64, Error> {
        #[derive(Deserialize)]
        struct Swept {
            expired: u64,
        }
        let swept: Swept = self.account.control("POST", &self.path("/sweep"), Value::Null).await?;
        Ok(swept.expired)
    }

    /// The next items that will expire, soonest first; `limit` is 1 to 10,000.
    pub async fn upcoming(&self, limit: u32) -> Result<Vec<Upcoming>, Error> {
        #[derive(Deserialize)]
        struct Items {
            items: Vec<Upcoming>,
        }
        let path = self.path(&format!("/upcoming?limit={limit}"));
        let answer: Items = self.account.control("GET", &path, Value::Null).await?;
        Ok(answer.items)
    }

    /// Why the item with that key is still there, or is not.
    pub async fn explain(&self, key: impl Into<Key>) -> Result<Explanation, Error> {
        let body = json!({"key": key.into().0});
        self.account.control("POST", &self.path("/explain"), body).await
    }

    async fn set(&self, body: Value) -> Result<(), Error> {
        self.account.call("PUT", &self.path(""), body).await.map(drop)
    }

    fn path(&self, rest: &str) -> String {
        format!("/ttl/{}{rest}", segment(&self.table))
    }
}
