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
use crate::http::exchange_blocking;
use crate::server::Shared;
use crate::{Clock, Error, Explanation, Key, Ttl};

pub(crate) const SECRET: &str = "any";
const CLOSE_WAIT: Duration = Duration::from_secs(5);

/// An account of its own: tables, streams and a clock that no other world sees. It begins empty, and its clock begins with
/// the host's time. Dropped, it gives the server its memory back.
pub struct World {
    /// The world's clock.
    pub clock: Clock,
    pub(crate) account: Arc<Account>,
    // What the server logged meanwhile is printed when the world is dropped: libtest shows it of tests that fail.
    prints_log: bool,
    born_at: usize, // in the server's log
    #[cfg(feature = "aws-sdk")]
    pub(crate) clients: crate::sdk::Clients,
}

// What makes a call of the control API about one world. The clock and others have it.
pub(crate) struct Account {
    pub number: String,
    pub server: Arc<Shared>,
    pub function_names: Mutex<BTreeSet<String>>, // that were registered
    pub functions_served: Mutex<Vec<AbortHandle>>, // by this process
}

impl World {
    pub(crate) fn new(server: Arc<Shared>, prints_log: bool) -> World {
        let born_at = server.log.position();
        let number = fastrand::u64(100_000_000_000..1_000_000_000_000).to_string();
        let account = Arc::new(Account {
            number,
            server,
            function_names: Mutex::default(),
            functions_served: Mutex::default(),
        });
        World {
            clock: Clock { account: account.clone() },
            #[cfg(feature = "aws-sdk")]
            clients: crate::sdk::Clients::new(&account),
            account,
            prints_log,
            born_at,
        }
    }

    /// Twelve digits, the first of them not 0: the access key id that signs for the world. The secret may be any.
    pub fn account(&self) -> &str {
        &self.account.number
    }

    /// The server's, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.account.server.url
    }

    /// What clients sign for.
    pub fn region(&self) -> &str {
        &self.account.server.region
    }

    /// What a child process needs to be in this world:
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

    /// What the server has logged since the world was made, of all worlds; empty if it was not started here.
    pub fn log(&self) -> String {
        self.account.server.log.since(self.born_at)
    }

    /// Makes any call of the control API, about this world. `path` is what stands behind `/_mayfly`; [`Value::Null`] is no
    /// body.
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

    /// A table's time to live; the table need not be there yet.
    pub fn ttl(&self, table: &str) -> Ttl {
        Ttl { account: self.account.clone(), table: table.into() }
    }

    /// Why an item is still there, or is not: [`Ttl::explain`].
    pub async fn explain(&self, table: &str, key: impl Into<Key>) -> Result<Explanation, Error> {
        self.ttl(table).explain(key).await
    }

    /// Leaves nothing: no tables, streams, snapshots, mappings, faults; the clock as it begins. Functions stay.
    pub async fn reset(&self) -> Result<(), Error> {
        self.account.call("POST", "/reset", Value::Null).await.map(drop)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let account = &self.account;
        account.served().drain(..).for_each(|function| function.abort());
        // Best effort: nobody can meet the world again.
        let mut requests = vec![account.request("POST", "/reset", &Value::Null)];
        requests.extend(account.forget_functions());
        exchange_blocking(&account.server.url, requests.into_iter().flatten().collect(), CLOSE_WAIT);
        if self.prints_log {
            let log = self.log();
            if !log.is_empty() {
                eprintln!("mayfly logged, of all worlds (this one was {}):\n{log}", account.number);
            }
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

    // The answer, if it is none of a refusal.
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

    // Of the kind that DynamoDB and Lambda get. Which account it is stands in the signature, and whether it is right is
    // nobody's business here: a server with --require-signature needs an SDK's client.
    pub fn signed(
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

// A name as a segment of a path.
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
