use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::world::{Account, about_item};
use crate::{Error, Item, Key, World, instant};

/// A kind of change of an item.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Event {
    /// The item is new.
    Insert,
    /// The item existed before.
    Modify,
    /// The item was deleted or expired.
    Remove,
}

/// The cause of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A request.
    User,
    /// Time to live.
    Service,
}

impl World {
    /// Waits until the item changes, and returns the change's record. It is done by `.await`. By default it takes any later
    /// change, and waits for five seconds of real time.
    ///
    /// ```no_run
    /// use mayfly::{By, Event};
    /// # async fn wait(world: &mayfly::World, began: std::time::SystemTime) -> Result<(), mayfly::Error> {
    /// let record = world.wait_for("carts", ("id", "1")).event(Event::Remove).by(By::Service).since(began).await?;
    /// assert_eq!(record.old_image.s("id"), Some("1"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// If there is no such change in time, the error is [`Error::WaitTimedOut`].
    pub fn wait_for(&self, table: &str, key: impl Into<Key>) -> WaitFor {
        let body = about_item(table, key.into());
        WaitFor { account: self.account.clone(), table: table.into(), body }
    }
}

/// A wait for a change of an item, done by `.await`. [`World::wait_for`] makes it.
#[must_use = "a wait is done by .await"]
pub struct WaitFor {
    account: Arc<Account>,
    table: String,
    body: Value,
}

impl WaitFor {
    /// Takes only this event.
    pub fn event(mut self, event: Event) -> Self {
        self.body["event"] = serde_json::json!(event);
        self
    }

    /// Takes only changes with this cause.
    pub fn by(mut self, by: By) -> Self {
        self.body["by"] = serde_json::json!(by);
        self
    }

    /// Also takes changes in the table's stream since that time.
    pub fn since(mut self, since: SystemTime) -> Self {
        self.body["since"] = instant::print(since).into();
        self
    }

    /// The time limit, in real time, at most ten minutes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.body["timeout_seconds"] = timeout.as_secs_f64().into();
        self
    }
}

impl IntoFuture for WaitFor {
    type Output = Result<Record, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        #[derive(Deserialize)]
        struct Found {
            record: Record,
        }
        Box::pin(async move {
            match self.account.control::<Found>("POST", "/await", self.body).await {
                Ok(found) => Ok(found.record),
                Err(Error::Refused(refusal)) if refusal.status == 408 => {
                    let happened = refusal.body.get("records").cloned().unwrap_or_default();
                    let happened = serde_json::from_value(happened).unwrap_or_default();
                    Err(Error::WaitTimedOut { table: self.table, happened, refusal })
                }
                Err(error) => Err(error),
            }
        })
    }
}

/// A record of a stream. An image that the stream does not contain is empty.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    /// Its `eventID`.
    pub id: String,
    /// The kind of change.
    pub event: Event,
    /// The cause of the change.
    pub by: By,
    /// The item's key.
    pub keys: Item,
    /// The item after the change.
    pub new_image: Item,
    /// The item before the change.
    pub old_image: Item,
    /// Its position in the stream.
    pub sequence_number: String,
    /// The whole record, as functions receive it.
    pub raw: Value,
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let event = match self.event {
            Event::Insert => "INSERT",
            Event::Modify => "MODIFY",
            Event::Remove => "REMOVE",
        };
        write!(out, "{event} by {}", if self.by == By::User { "user" } else { "service" })
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Record, D::Error> {
        #[derive(Deserialize)]
        struct Wire {
            #[serde(rename = "eventID", default)]
            id: String,
            #[serde(rename = "eventName")]
            event: Event,
            #[serde(rename = "userIdentity")]
            user_identity: Option<Value>, // is there if the service did it
            dynamodb: Images,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "PascalCase", default)]
        struct Images {
            keys: Item,
            new_image: Item,
            old_image: Item,
            sequence_number: String,
        }
        let raw = Value::deserialize(from)?;
        let wire = Wire::deserialize(&raw).map_err(serde::de::Error::custom)?;
        let by = if wire.user_identity.is_some() { By::Service } else { By::User };
        let Images { keys, new_image, old_image, sequence_number } = wire.dynamodb;
        Ok(Record { id: wire.id, event: wire.event, by, keys, new_image, old_image, sequence_number, raw })
    }
}
