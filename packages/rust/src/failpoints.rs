use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::error::Refusal;
use crate::world::{Account, about_item};
use crate::{Error, Key, World};

const PAUSE: Duration = Duration::from_millis(1);

/// Stops the expiry of an item just before the item is deleted. Until the failpoint is released, the item can be read
/// and written as usual, and an advance of the world's clock blocks at the failpoint. Run the advance in another task:
///
/// ```no_run
/// # use std::time::Duration;
/// # async fn stop(world: &mayfly::World) -> Result<(), mayfly::Error> {
/// let point = world.failpoint("carts", ("id", "1")).await?;
/// let clock = world.clock.clone();
/// let advance = tokio::spawn(async move { clock.advance(Duration::from_secs(3600)).await });
/// point.reached().await?;
/// // … write the item …
/// point.release().await?;
/// advance.await.unwrap()?;
/// # Ok(())
/// # }
/// ```
pub struct Failpoint {
    account: Arc<Account>,
    body: Value,
}

impl World {
    /// Arms a failpoint for the item with this key.
    pub async fn failpoint(&self, table: &str, key: impl Into<Key>) -> Result<Failpoint, Error> {
        let body = about_item(table, key.into());
        self.account.call("PUT", "/failpoints", body.clone()).await?;
        Ok(Failpoint { account: self.account.clone(), body })
    }

    /// Releases all failpoints of the world.
    pub async fn release_all(&self) -> Result<(), Error> {
        self.account.call("DELETE", "/failpoints", Value::Null).await.map(drop)
    }
}

impl Failpoint {
    /// Waits until the item's expiry has reached the failpoint, without a time limit. Returns [`Error::Refused`] with the
    /// kind `NotFound` if the failpoint was released.
    pub async fn reached(&self) -> Result<(), Error> {
        while !self.is_waiting().await? {
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn is_waiting(&self) -> Result<bool, Error> {
        #[derive(Deserialize)]
        struct Points {
            failpoints: Vec<Point>,
        }
        #[derive(Deserialize)]
        struct Point {
            region: String,
            table: String,
            key: Value,
            state: String,
        }
        let points: Points = self.account.control("GET", "/failpoints", Value::Null).await?;
        let is_it = |point: &Point| {
            point.table == self.body["table"]
                && point.key == self.body["key"]
                && point.region == self.account.server.region
        };
        match points.failpoints.iter().find(|point| is_it(point)) {
            Some(point) => Ok(point.state == "waiting"),
            None => Err(Error::Refused(Box::new(Refusal {
                kind: "NotFound".into(),
                message: format!(
                    "the failpoint in table {} was released",
                    self.body["table"].as_str().unwrap_or_default()
                ),
                status: 404,
                body: Value::Null,
            }))),
        }
    }

    /// Lets the expiry continue. The server checks the item again, and does not delete an item that was renewed.
    pub async fn release(&self) -> Result<(), Error> {
        self.account.call("DELETE", "/failpoints", self.body.clone()).await.map(drop)
    }
}
