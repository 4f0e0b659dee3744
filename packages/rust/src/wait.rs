use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::world::{Account, about_item};
use crate::{Error, Item, Key, World, instant};

/// A kind of change to an item.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Event {
    /// The change created the item.
    Insert,
    /// The change modified an existing item.
    Modify,
    /// The item was deleted or expired.
    Remove,
}

/// The cause of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A user's request.
    User,
    /// The service, which deleted an expired item.
    Service,
}

impl World {
    /// Returns a future that waits until the item changes, and that returns the change's stream record. By default, the
    /// future waits for any change after it is awaited, for at most five seconds of real time. The methods of [`WaitFor`]
    /// select the change.
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
    /// If no such change happens in time, the error is [`Error::WaitTimedOut`].
    pub fn wait_for(&self, table: &str, key: impl Into<Key>) -> WaitFor {
        let body = about_item(table, key.into());
        WaitFor { account: self.account.clone(), table: table.into(), body }
    }
}

/// A wait for a change to an item. The wait starts when this value is awaited. [`World::wait_for`] returns this value.
#[must_use = "a wait does nothing until it is awaited"]
pub struct WaitFor {
    account: Arc<Account>,
    table: String,
    body: Value,
}

impl WaitFor {
    /// Waits only for changes of this kind.
    pub fn event(mut self, event: Event) -> Self {
        self.body["event"] = serde_json::json!(event);
        self
    }

    /// Waits only for changes with this cause.
    pub fn by(mut self, by: By) -> Self {
        self.body["by"] = serde_json::json!(by);
        self
    }

    /// Also accepts changes between this time and the start of the wait, if they are in the table's stream.
    pub fn since(mut self, since: SystemTime) -> Self {
        self.body["since"] = instant::print(since).into();
        self
    }

    /// Sets the time limit, in real time: at most ten minutes. Default: five seconds.
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

/// A stream record. Images that the table's stream does not contain are empty.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Record {
    /// The record's `eventID`.
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
    /// The record's sequence number.
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
            user_identity: Option<Value>, // present if the service made the change
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
