use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::Refusal;
use crate::world::Account;
use crate::{Error, World};

impl World {
    /// Has a table's stream call a function, from the stream's beginning on, and answers the UUID of the mapping. It is done
    /// by `.await`; what Lambda's CreateEventSourceMapping takes beyond that is set before:
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

/// An event source mapping to be made, by `.await`. [`World::trigger`] makes it.
#[must_use = "a mapping is made by .await"]
pub struct Trigger {
    account: Arc<Account>,
    table: String,
    settings: Value,
}

impl Trigger {
    /// A member of CreateEventSourceMapping, by its name there.
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.settings[member] = value.into();
        self
    }

    async fn create(mut self) -> Result<String, Error> {
        self.settings["EventSourceArn"] = self.stream().await?.into();
        let path = "/2015-03-31/event-source-mappings/";
        let created = self.post("lambda", path, None, &self.settings).await?;
        Ok(created["UUID"].as_str().unwrap_or_default().to_owned())
    }

    async fn stream(&self) -> Result<String, Error> {
        let target = Some("DynamoDB_20120810.DescribeTable");
        let described = self.post("dynamodb", "/", target, &json!({"TableName": self.table})).await?;
        let stream = described["Table"]["LatestStreamArn"].as_str();
        stream.map(str::to_owned).ok_or_else(|| {
            Error::Refused(Box::new(Refusal {
                kind: "ValidationException".into(),
                message: format!(
                    "The table {} has no stream: create it with a StreamSpecification.",
                    self.table
                ),
                status: 400,
                body: Value::Null,
            }))
        })
    }

    async fn post(
        &self,
        service: &str,
        path: &str,
        target: Option<&str>,
        body: &Value,
    ) -> Result<Value, Error> {
        let call = format!("POST {path}");
        let failed = |source| Error::Call { call: call.clone(), source };
        let request =
            self.account.signed(service, path, target, body).map_err(|failure| failed(Arc::new(failure)))?;
        let text = self.account.answered(&call, request).await?;
        serde_json::from_slice(&text).map_err(|failure| failed(Arc::new(failure)))
    }
}

impl IntoFuture for Trigger {
    type Output = Result<String, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.create())
    }
}
