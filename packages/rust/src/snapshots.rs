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
    /// Returns the snapshot's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn path(&self) -> String {
        format!("/snapshots/{}", segment(&self.id))
    }
}

impl World {
    /// Saves the state of the world: tables, items, indexes, pending expiries, streams and clock. No data is copied.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        self.account.control("POST", "/snapshots", Value::Null).await
    }

    /// Restores the state that a snapshot saved, including the clock. A snapshot can be restored any number of times.
    pub async fn restore(&self, snapshot: &Snapshot) -> Result<(), Error> {
        self.account.call("POST", &(snapshot.path() + "/restore"), Value::Null).await.map(drop)
    }

    /// Deletes a snapshot.
    pub async fn delete_snapshot(&self, snapshot: &Snapshot) -> Result<(), Error> {
        self.account.call("DELETE", &snapshot.path(), Value::Null).await.map(drop)
    }

    /// Returns the world's existing snapshots.
    pub async fn snapshots(&self) -> Result<Vec<Snapshot>, Error> {
        #[derive(Deserialize)]
        struct Kept {
            snapshots: Vec<Snapshot>,
        }
        let kept: Kept = self.account.control("GET", "/snapshots", Value::Null).await?;
        Ok(kept.snapshots)
    }
}
