use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use crate::error::Refusal;
use crate::handlers::Failures;
use crate::http::exchange_blocking;
use crate::server::Shared;
use crate::ttl::read_suspects;
use crate::{Clock, Error, Explanation, Key, Ttl};

pub(crate) const SECRET: &str = "any";
const CLOSE_WAIT: Duration = Duration::from_secs(5);
const DELIVERY_WAIT: Duration = Duration::from_secs(2);

/// A separate account with its own tables, streams and clock. A new world is empty, and its clock shows the host's time.
/// When the world is dropped, the server frees the world's memory.
pub struct World {
    /// The world's clock.
    pub clock: Clock,
    pub(crate) account: Arc<Account>,
    // Whether dropping the world prints the server's log and items with a suspect TTL. libtest shows this output for
    // failed tests.
    reports: bool,
    born_at: usize, // the end of the server's log when the world was created
    #[cfg(feature = "aws-sdk")]
    pub(crate) clients: crate::sdk::Clients,
}

// The account and its server, for control calls. A world shares its `Account` with its clock, its failpoints and so on.
pub(crate) struct Account {
    pub number: String,
    pub server: Arc<Shared>,
    pub function_names: Mutex<BTreeSet<String>>, // names of registered functions
    pub functions_served: Mutex<Vec<AbortHandle>>, // tasks that serve functions in this process
    pub failures: Mutex<Failures>,
}

impl World {
    pub(crate) fn new(server: Arc<Shared>, reports: bool) -> World {
        let born_at = server.log.position();
        let number = fastrand::u64(100_000_000_000..1_000_000_000_000).to_string();
        let account = Arc::new(Account {
            number,
            server,
            function_names: Mutex::default(),
            functions_served: Mutex::default(),
            failures: Mutex::default(),
        });
        World {
            clock: Clock { account: account.clone() },
            #[cfg(feature = "aws-sdk")]
            clients: crate::sdk::Clients::new(&account),
            account,
            reports,
            born_at,
        }
    }

    /// Returns the world's account, twelve digits. It is also the access key id; the secret key can be anything.
    pub fn account(&self) -> &str {
        &self.account.number
    }

    /// Returns the server's URL, without a trailing slash.
    pub fn url(&self) -> &str {
        &self.account.server.url
    }

    /// Returns the region for which the clients sign their requests.
    pub fn region(&self) -> &str {
        &self.account.server.region
    }

    /// Returns the environment variables that make a child process use this world:
    ///
    /// ```no_run
    /// # fn spawn(world: &mayfly::World) {
    /// std::process::Command::new("shop").envs(world.environment());
    /// # }
    /// ```
    pub fn environment(&self) -> [(&'static str, String); 8] {
        let (url, account, region) = (self.url(), self.account(), self.region());
        [
            ("AWS_ENDPOINT_URL_DYNAMODB", url.into()),
            ("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", url.into()),
            ("AWS_ACCESS_KEY_ID", account.into()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.into()),
            ("AWS_REGION", region.into()),
            ("AWS_DEFAULT_REGION", region.into()),
            ("MAYFLY_URL", url.into()),
            ("MAYFLY_ACCOUNT", account.into()),
        ]
    }

    /// Returns the server's log since the world was created, without lines about other worlds; empty for an existing
    /// server that the crate did not start.
    pub fn log(&self) -> String {
        self.account.server.log.about(&self.account.number, self.born_at)
    }

    /// Makes any call to the control API for this world. `path` is the part after `/_mayfly`. `body` is sent as JSON;
    /// [`Value::Null`] means no body. Returns the decoded response.
    ///
    /// ```no_run
    /// # async fn look(world: &mayfly::World) -> Result<(), mayfly::Error> {
    /// let jobs = world.control("GET", "/jobs", serde_json::Value::Null).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn control(&self, method: &str, path: &str, body: Value) -> Result<Value, Error> {
        self.account.control(method, path, body).await
    }

    /// Returns the time to live of a table. The table does not have to exist yet.
    pub fn ttl(&self, table: &str) -> Ttl {
        Ttl { account: self.account.clone(), table: table.into() }
    }

    /// Says why an item still exists, or why it does not. Equivalent to [`Ttl::explain`].
    pub async fn explain(&self, table: &str, key: impl Into<Key>) -> Result<Explanation, Error> {
        self.ttl(table).explain(key).await
    }

    /// Deletes all tables, streams, snapshots, event source mappings and faults, and resets the clock. Registered functions
    /// remain.
    pub async fn reset(&self) -> Result<(), Error> {
        self.account.call("POST", "/reset", Value::Null).await.map(drop)
    }

    /// Waits until the world's functions have processed the records written so far, for at most two seconds, and then
    /// drops the world. Returns [`Error::Handler`] if the test's own functions failed unexpectedly and no earlier call
    /// returned the failures.
    ///
    /// If a world is dropped without `close`, the drop does not wait, so functions never receive the remaining records.
    /// If `close` would return an error, the drop panics.
    pub async fn close(self) -> Result<(), Error> {
        if !self.account.names().is_empty() {
            // The result is ignored, because the call fails if the server has ended.
            let body =
                json!({ "seconds": 0, "settle": "triggers", "settle_seconds": DELIVERY_WAIT.as_secs() });
            let _ = self.account.call("POST", "/clock/advance", body).await;
        }
        self.check_handlers()
    }
}

impl Drop for World {
    /// # Panics
    /// Panics if the test's own functions failed unexpectedly and no call returned the failures as [`Error::Handler`],
    /// unless the thread is already panicking.
    fn drop(&mut self) {
        let account = &self.account;
        let log = self.log(); // read before the requests below, because those are logged as well
        account.served().drain(..).for_each(|function| function.abort());
        // Best effort. A failure does no harm, because no later call can use the account.
        let mut requests = vec![account.request("GET", "/ttl", &Value::Null)];
        requests.push(account.request("POST", "/reset", &Value::Null));
        requests.extend(account.forget_functions());
        let requests = requests.into_iter().flatten().collect();
        let answers = exchange_blocking(&account.server.url, requests, CLOSE_WAIT);
        if self.reports {
            self.report(answers.first(), &log);
        }
        if let Err(failed) = account.check_handlers()
            && !std::thread::panicking()
        {
            panic!("{failed}");
        }
    }
}

impl World {
    // Prints information that can explain why the test failed.
    fn report(&self, ttl: Option<&Bytes>, log: &str) {
        for suspect in ttl.and_then(|answer| read_suspects(answer).ok()).unwrap_or_default() {
            let key = Value::Object(suspect.key.json().clone());
            eprintln!("mayfly: check the TTL of {}/{key}: {}", suspect.table, suspect.message);
        }
        if !log.is_empty() {
            eprintln!("mayfly's log of this test (account {}):\n{log}", self.account.number);
        }
    }
}

impl Account {
    pub fn names(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.function_names.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn served(&self) -> MutexGuard<'_, Vec<AbortHandle>> {
        self.functions_served.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub async fn control<A: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: Value,
    ) -> Result<A, Error> {
        let text = self.call(method, path, body).await?;
        serde_json::from_slice(&text)
            .map_err(|failure| Error::Call { call: format!("{method} {path}"), source: Arc::new(failure) })
    }

    // Returns the response's body. An error response becomes `Error::Refused`.
    pub async fn call(&self, method: &str, path: &str, body: Value) -> Result<Bytes, Error> {
        let call = format!("{method} {path}");
        let request = self
            .request(method, path, &body)
            .map_err(|failure| Error::Call { call: call.clone(), source: Arc::new(failure) })?;
        self.answered(&call, request).await
    }

    pub async fn answered(&self, call: &str, request: Request<Full<Bytes>>) -> Result<Bytes, Error> {
        let answer = self.server.exchange(call, request).await?;
        if answer.status().is_success() {
            return Ok(answer.into_body());
        }
        Err(Error::Refused(Box::new(Refusal::read(answer))))
    }

    pub fn request(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        Request::builder()
            .method(method)
            .uri(format!("/_mayfly/{}", path.trim_start_matches('/')))
            .header("content-type", "application/json")
            .header("x-mayfly-account", &self.number)
            .header("x-mayfly-region", &self.server.region)
            .body(Full::new(body))
    }

    // Calls an operation of DynamoDB.
    pub async fn dynamodb(&self, operation: &str, body: &Value) -> Result<Value, Error> {
        self.post("dynamodb", "/", Some(&format!("DynamoDB_20120810.{operation}")), body).await
    }

    pub async fn post(
        &self,
        service: &str,
        path: &str,
        target: Option<&str>,
        body: &Value,
    ) -> Result<Value, Error> {
        let call = target.map_or_else(|| format!("POST {path}"), str::to_owned);
        let failed = |source| Error::Call { call: call.clone(), source };
        let request =
            self.signed(service, path, target, body).map_err(|failure| failed(Arc::new(failure)))?;
        let text = self.answered(&call, request).await?;
        serde_json::from_slice(&text).map_err(|failure| failed(Arc::new(failure)))
    }

    // Returns a request to DynamoDB or Lambda. Its signature names the account but is invalid, so a server with
    // --require-signature rejects it.
    fn signed(
        &self,
        service: &str,
        path: &str,
        target: Option<&str>,
        body: &Value,
    ) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let scope = format!("{}/20310101/{}/{service}/aws4_request", self.number, self.server.region);
        let signature = "0".repeat(64);
        let mut request = Request::post(path)
            .header("content-type", target.map_or("application/json", |_| "application/x-amz-json-1.0"))
            .header("x-amz-date", "20310101T000000Z")
            .header(
                "authorization",
                format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature={signature}"),
            );
        if let Some(target) = target {
            request = request.header("x-amz-target", target);
        }
        request.body(Full::new(body.to_string().into()))
    }
}

// Encodes a name as a path segment.
pub(crate) fn segment(name: &str) -> String {
    let mut segment = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => segment.push(byte.into()),
            _ => segment.push_str(&format!("%{byte:02X}")),
        }
    }
    segment
}

pub(crate) fn about_item(table: &str, key: Key) -> Value {
    json!({ "table": table, "key": key.0 })
}
