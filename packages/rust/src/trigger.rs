use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::Refusal;
use crate::world::Account;
use crate::{Error, World};

impl World {
    /// Creates an event source mapping that calls a function with the records of the table's stream, starting with the
    /// oldest record. Awaiting the returned [`Trigger`] creates the mapping and returns its UUID. [`Trigger::with`] sets
    /// further members of Lambda's CreateEventSourceMapping request:
    ///
    /// ```no_run
    /// # async fn map(world: &mayfly::World) -> Result<(), mayfly::Error> {
    /// world.trigger("carts", "reminder").with("BatchSize", 10).with("MaximumRetryAttempts", 2).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn trigger(&self, table: &str, function: &str) -> Trigger {
        let settings = json!({"FunctionName": function, "StartingPosition": "TRIM_HORIZON"});
        Trigger { account: self.account.clone(), table: table.into(), settings }
    }
}

/// The settings of a new event source mapping. The mapping is created when this value is awaited. [`World::trigger`]
/// returns this value.
#[must_use = "a mapping is not created until this is awaited"]
pub struct Trigger {
    account: Arc<Account>,
    table: String,
    settings: Value,
}

impl Trigger {
    /// Sets a member of the CreateEventSourceMapping request.
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.settings[member] = value.into();
        self
    }

    async fn create(mut self) -> Result<String, Error> {
        self.settings["EventSourceArn"] = self.stream().await?.into();
        let path = "/2015-03-31/event-source-mappings/";
        let created = self.account.post("lambda", path, None, &self.settings).await?;
        Ok(created["UUID"].as_str().unwrap_or_default().to_owned())
    }

    async fn stream(&self) -> Result<String, Error> {
        let described = self.account.dynamodb("DescribeTable", &json!({"TableName": self.table})).await?;
        let stream = described["Table"]["LatestStreamArn"].as_str();
        stream.map(str::to_owned).ok_or_else(|| {
            Error::Refused(Box::new(Refusal {
                kind: "ValidationException".into(),
                message: format!("the table {:?} has no stream: create it without Stream::Off", self.table),
                status: 400,
                body: Value::Null,
            }))
        })
    }
}

impl IntoFuture for Trigger {
    type Output = Result<String, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.create())
    }
}
