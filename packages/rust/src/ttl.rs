use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::world::{Account, segment};
use crate::{Error, Item, Key, World, instant};

/// The time to live of a table. [`World::ttl`] returns it.
pub struct Ttl {
    pub(crate) account: Arc<Account>,
    pub(crate) table: String,
}

/// Determines when expired items are deleted.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TtlMode {
    /// Expired items are deleted immediately. This is the mode of a new table.
    Exact,
    /// Expired items are deleted late, as on AWS.
    Aws,
    /// Expired items are deleted only by [`Ttl::sweep`].
    Manual,
}

/// A reason why a TTL is probably wrong.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TtlReason {
    /// The TTL is a number that looks like milliseconds or a smaller unit, so it never fires.
    Milliseconds,
    /// The TTL is a string, so it never fires.
    String,
    /// The TTL is neither a number nor a string, so it never fires.
    WrongType,
    /// The TTL is a time more than five years in the past, or a negative number, so it never fires.
    TooOld,
    /// The TTL had passed when the item was written.
    BornExpired,
    /// A reason that this version of the crate does not know.
    #[serde(other)]
    Other,
}

/// An item whose TTL is probably wrong.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct TtlSuspect {
    /// The item's table.
    #[serde(default)]
    pub table: String,
    /// The item's key.
    pub key: Item,
    /// Why the TTL is probably wrong.
    pub reason: TtlReason,
    /// The reason as a sentence, with the TTL and what to do.
    pub message: String,
    /// When the item was written. None: it was written before the server started.
    #[serde(default, deserialize_with = "instant::read_optional")]
    pub at: Option<SystemTime>,
}

/// The TTL settings of a table, and counts of its items.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct TtlStatus {
    /// `ENABLED` or `DISABLED`.
    pub status: String,
    /// The attribute that holds the TTL. None: TTL is disabled.
    pub attribute: Option<String>,
    /// When expired items are deleted.
    pub mode: TtlMode,
    /// In the mode [`TtlMode::Aws`]: the minimum and maximum delay, in seconds.
    pub delay_seconds: Option<(f64, f64)>,
    /// The number of items that will expire.
    pub pending: u64,
    /// The number of pending items whose TTL has passed.
    pub due: u64,
    /// When the next item becomes due. None: no item will expire.
    #[serde(default, deserialize_with = "instant::read_optional")]
    pub next_due: Option<SystemTime>,
    /// The number of items that expired and were deleted since the server started.
    pub expired: u64,
    /// The number of expired items whose TTL had passed when they were written.
    pub born_expired: u64,
    /// The number of items whose TTL can never fire, by reason.
    #[serde(default)]
    pub never: BTreeMap<TtlReason, u64>,
    /// The latest items whose TTL can never fire or had passed when they were written; at most 10.
    #[serde(default)]
    pub suspects: Vec<TtlSuspect>,
}

/// An item that will expire.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Upcoming {
    /// The item's key.
    pub key: Item,
    /// The first instant after the item's TTL.
    #[serde(deserialize_with = "instant::read")]
    pub due: SystemTime,
    /// When the item will be deleted. None: at the next [`Ttl::sweep`].
    #[serde(default, deserialize_with = "instant::read_optional")]
    pub expires_at: Option<SystemTime>,
}

/// Explains why an item still exists, or why it does not.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// `due`, `not_due`, `delayed`, `expired`, `born_expired`, `no_item`, `no_attribute`, `not_a_number`, `milliseconds`,
    /// `too_old` or `ttl_disabled`.
    pub reason: String,
    /// When the item will be deleted. None: never, or at the next [`Ttl::sweep`].
    #[serde(default, deserialize_with = "instant::read_optional")]
    pub expires_at: Option<SystemTime>,
    /// The explanation as a sentence.
    pub message: String,
}

impl Ttl {
    /// Returns the state of the table's time to live.
    pub async fn status(&self) -> Result<TtlStatus, Error> {
        let mut status: TtlStatus = self.account.control("GET", &self.path(""), Value::Null).await?;
        status.suspects.iter_mut().for_each(|suspect| suspect.table.clone_from(&self.table));
        Ok(status)
    }

    /// Sets the mode to exact, the default: items are deleted at the instant at which they expire.
    pub async fn exact(&self) -> Result<(), Error> {
        self.set(json!({"mode": TtlMode::Exact})).await
    }

    /// Sets the mode to manual: expired items stay until [`Ttl::sweep`] deletes them.
    pub async fn manual(&self) -> Result<(), Error> {
        self.set(json!({"mode": TtlMode::Manual})).await
    }

    /// Sets the mode to aws: items are deleted late, as on AWS, each after a random delay between `least` and `most`, in
    /// whole seconds. The same seed gives the same delays.
    pub async fn aws(&self, least: Duration, most: Duration, seed: u64) -> Result<(), Error> {
        let delay = [least.as_secs(), most.as_secs()];
        self.set(json!({"mode": TtlMode::Aws, "delay_seconds": delay, "seed": seed})).await
    }

    /// Deletes expired items now, in every mode, and returns the number of items deleted.
    pub async fn sweep(&self) -> Result<u64, Error> {
        #[derive(Deserialize)]
        struct Swept {
            expired: u64,
        }
        let swept: Swept = self.account.control("POST", &self.path("/sweep"), Value::Null).await?;
        Ok(swept.expired)
    }

    /// Returns the next items that will expire, soonest first; `limit` is 1 to 10,000.
    pub async fn upcoming(&self, limit: u32) -> Result<Vec<Upcoming>, Error> {
        #[derive(Deserialize)]
        struct Items {
            items: Vec<Upcoming>,
        }
        let path = self.path(&format!("/upcoming?limit={limit}"));
        let answer: Items = self.account.control("GET", &path, Value::Null).await?;
        Ok(answer.items)
    }

    /// Says why the item with this key still exists, or why it does not.
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

#[derive(Deserialize)]
struct Tables {
    tables: BTreeMap<String, Suspects>,
}

#[derive(Deserialize)]
struct Suspects {
    #[serde(default)]
    suspects: Vec<TtlSuspect>,
}

// Returns the suspects in a response to GET /ttl.
pub(crate) fn read_suspects(answer: &[u8]) -> Result<Vec<TtlSuspect>, serde_json::Error> {
    let Tables { tables } = serde_json::from_slice(answer)?;
    let named = tables.into_iter().flat_map(|(table, Suspects { suspects })| {
        suspects.into_iter().map(move |suspect| TtlSuspect { table: table.clone(), ..suspect })
    });
    Ok(named.collect())
}

impl World {
    /// Returns the items whose TTL is probably wrong, from all tables, sorted by table.
    pub async fn ttl_suspects(&self) -> Result<Vec<TtlSuspect>, Error> {
        let answer = self.account.call("GET", "/ttl", Value::Null).await?;
        read_suspects(&answer)
            .map_err(|failure| Error::Call { call: "GET /ttl".into(), source: Arc::new(failure) })
    }
}

#[cfg(test)]
mod tests {
    use super::{TtlReason, read_suspects};

    #[test]
    fn ttl_suspects_of_all_tables_are_read_even_if_their_reasons_are_unknown() {
        let answer = br#"{"tables": {"carts": {"suspects": [{"key": {"id": {"S": "1"}}, "reason": "string",
            "message": "ttl is a string", "at": "2031-01-01T00:00:00Z"}]}, "empty": {}, "orders": {"suspects": [{"key": {},
            "reason": "mood", "message": ""}]}}}"#;
        let suspects = read_suspects(answer).unwrap();
        let shown: Vec<_> =
            suspects.iter().map(|it| (it.table.as_str(), it.reason, it.at.is_some())).collect();
        assert_eq!(shown, [("carts", TtlReason::String, true), ("orders", TtlReason::Other, false)]);
    }
}
