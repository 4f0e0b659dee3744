use serde::Deserialize;
use serde_json::Value;

use crate::world::segment;
use crate::{Error, World};

/// A snapshot of a world.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq)]
pub struct Snapshot {
    id: String,
}

impl Snapshot {
    /// The server's name for it.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn path(&self) -> String {
        format!("/snapshots/{}", segment(&self.id))
    }
}

impl World {
    /// Keeps the world as it is: tables, items, indexes, pending expiries, streams and clock. It copies nothing.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        self.account.control("POST", "/snapshots", Value::Null).await
    }

    /// Makes the world what it was, clock and all, as often as wanted.
    pub async fn restore(&self, snapshot: &Snapshot) -> Result<(), Error> {
        self.account.call("POST", &(snapshot.path() + "/restore"), Value::Null).await.map(drop)
    }

    /// Forgets one.
    pub async fn delete_snapshot(&self, snapshot: &Snapshot) -> Result<(), Error> {
        self.account.call("DELETE", &snapshot.path(), Value::Null).await.map(drop)
    }

    /// Those that are kept.
    pub async fn snapshots(&self) -> Result<Vec<Snapshot>, Error> {
        #[derive(Deserialize)]
        struct Kept {
            snapshots: Vec<Snapshot>,
        }
        let kept: Kept = self.account.control("GET", "/snapshots", Value::Null).await?;
        Ok(kept.snapshots)
    }
}
