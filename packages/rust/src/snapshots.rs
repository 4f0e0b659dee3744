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
    /// The server's id of it.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn path(&self) -> String {
        format!("/snapshots/{}", segment(&self.id))
    }
}

impl World {
    /// Takes a snapshot of the world: tables, items, indexes, pending expiries, streams and clock. It copies nothing.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        self.account.control("POST", "/snapshots", Value::Null).await
    }

    /// Restores the world, including its clock. A snapshot can be restored repeatedly.
    pub async fn restore(&self, snapshot: &Snapshot) -> Result<(), Error> {
        self.account.call("POST", &(snapshot.path() + "/restore"), Value::Null).await.map(drop)
    }

    /// Deletes a snapshot.
    pub async fn delete_snapshot(&self, snapshot: &Snapshot) -> Result<(), Error> {
        self.account.call("DELETE", &snapshot.path(), Value::Null).await.map(drop)
    }

    /// The world's snapshots.
    pub async fn snapshots(&self) -> Result<Vec<Snapshot>, Error> {
        #[derive(Deserialize)]
        struct Kept {
            snapshots: Vec<Snapshot>,
        }
        let kept: Kept = self.account.control("GET", "/snapshots", Value::Null).await?;
        Ok(kept.snapshots)
    }
}
