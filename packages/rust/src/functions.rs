use std::any::Any;
use std::fmt::Display;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::world::{Account, segment};
use crate::{Error, Record, World};

/// The event that a table's stream sends to a function.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct StreamEvent {
    /// Oldest first.
    #[serde(rename = "Records")]
    pub records: Vec<Record>,
}

/// The registration of a function.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct RegisteredFunction {
    /// Its name in event source mappings.
    pub name: String,
    /// Its address.
    pub url: String,
    /// The time limit of an invocation.
    pub timeout_seconds: f64,
}

// The result of an invocation as JSON, or how it failed.
type Handler =
    Arc<dyn Fn(Bytes) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, Failed>> + Send>> + Send + Sync>;

struct Failed {
    kind: String,
    message: String,
}

impl World {
    /// Registers a function of this program. Event source mappings and Lambda's Invoke call it with the decoded payload. Its
    /// result is encoded as JSON. It is registered by `.await`; before that, [`Function::timeout`] and [`Function::may_fail`]
    /// can be set.
    ///
    /// ```no_run
    /// # async fn register(world: &mayfly::World) -> Result<(), mayfly::Error> {
    /// world.function("reminder", async |event: mayfly::StreamEvent| {
    ///     println!("{} records", event.records.len());
    ///     Ok::<(), String>(())
    /// }).await?;
    /// world.trigger("carts", "reminder").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An error or a panic fails the invocation, and with it the test: it is printed, and the next [`World::settle`] or
    /// settled advance, [`World::close`] or [`World::check_handlers`] returns it as [`Error::Handler`]. If none of them
    /// does, the world panics when it is dropped. To expect failures, call [`Function::may_fail`].
    ///
    /// The function is served on a free port of the loopback interface, by tasks of the runtime that this is called in, until
    /// the world is dropped. A server on another machine or in a container cannot reach it: use [`World::function_at`].
    pub fn function<E, F, Fut, R, X>(&self, name: &str, function: F) -> Function
    where
        E: DeserializeOwned + Send + 'static,
        F: Fn(E) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, X>> + Send + 'static,
        R: Serialize + Send + 'static,
        X: Display + Send + 'static,
    {
        self.registration(name, Target::Here(handler(function)))
    }

    /// Registers the function that answers at an address, `http://…`. It is registered by `.await`.
    pub fn function_at(&self, name: &str, url: &str) -> Function {
        self.registration(name, Target::Elsewhere(url.into()))
    }

    fn registration(&self, name: &str, target: Target) -> Function {
        Function { account: self.account.clone(), name: name.into(), target, timeout: None, may_fail: false }
    }

    /// Removes the registration of a function.
    pub async fn remove_function(&self, name: &str) -> Result<(), Error> {
        self.account.call("DELETE", &path(name), Value::Null).await.map(drop)
    }

    /// All registrations.
    pub async fn functions(&self) -> Result<Vec<RegisteredFunction>, Error> {
        #[derive(Deserialize)]
        struct Functions {
            functions: Vec<RegisteredFunction>,
        }
        let answer: Functions = self.account.control("GET", "/functions", Value::Null).await?;
        Ok(answer.functions)
    }
}

/// A function to be registered, by `.await`. [`World::function`] and [`World::function_at`] make one.
#[must_use = "a function is registered by .await"]
pub struct Function {
    account: Arc<Account>,
    name: String,
    target: Target,
    timeout: Option<Duration>,
    may_fail: bool,
}

enum Target {
    Here(Handler),
    Elsewhere(String),
}

impl Function {
    /// The time limit of an invocation: one minute by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Declares that the test expects the function to fail: its failures are neither printed nor raised.
    /// [`World::handler_failures`] has them.
    pub fn may_fail(mut self) -> Self {
        self.may_fail = true;
        self
    }

    async fn register(self) -> Result<(), Error> {
        let Function { account, name, target, timeout, may_fail } = self;
        account.failures().declare(&name, may_fail);
        let url = match target {
            Target::Elsewhere(url) => url,
            Target::Here(handler) => account.serve(&name, handler).await?,
        };
        let mut body = json!({"url": url});
        if let Some(timeout) = timeout {
            body["timeout_seconds"] = timeout.as_secs_f64().into();
        }
        account.names().insert(name.clone());
        account.call("PUT", &path(&name), body).await.map(drop)
    }
}

impl IntoFuture for Function {
    type Output = Result<(), Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.register())
    }
}

fn path(name: &str) -> String {
    format!("/functions/{}", segment(name))
}

fn handler<E, F, Fut, R, X>(function: F) -> Handler
where
    E: DeserializeOwned + Send + 'static,
    F: Fn(E) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, X>> + Send + 'static,
    R: Serialize + Send + 'static,
    X: Display + Send + 'static,
{
    let function = Arc::new(function);
    Arc::new(move |payload| {
        let function = function.clone();
        Box::pin(async move {
            let unreadable = |failure: serde_json::Error| Failed {
                kind: "serde_json::Error".into(),
                message: failure.to_string(),
            };
            let event = serde_json::from_slice(&payload).map_err(unreadable)?;
            let result = without_panic(async { function(event).await }).await?.map_err(|failure| Failed {
                kind: std::any::type_name::<X>().into(),
                message: failure.to_string(),
            })?;
            serde_json::to_vec(&result).map_err(unreadable)
        })
    })
}

// A panic is a failure. The panic hook has printed it, with its place and, with RUST_BACKTRACE, its backtrace.
async fn without_panic<T>(work: impl Future<Output = T>) -> Result<T, Failed> {
    let mut work = pin!(work);
    let polled = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => std::task::Poll::Ready(Err(panic)),
    });
    polled.await.map_err(|panic| Failed { kind: "panic".into(), message: panic_message(&*panic) })
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}

impl Account {
    // Serves the function, and returns its address.
    async fn serve(self: &Arc<Account>, name: &str, handler: Handler) -> Result<String, Error> {
        let not_served = |failure: std::io::Error| Error::Call {
            call: format!("serve {name}"),
            source: Arc::new(failure),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(not_served)?;
        let address = listener.local_addr().map_err(not_served)?;
        let serving = tokio::spawn(accept(listener, self.clone(), name.to_owned(), handler));
        self.served().push(serving.abort_handle());
        Ok(format!("http://{address}/"))
    }

    // A reset leaves functions as they are.
    pub(crate) fn forget_functions(&self) -> Vec<Result<Request<Full<Bytes>>, hyper::http::Error>> {
        self.names().iter().map(|name| self.request("DELETE", &path(name), &Value::Null)).collect()
    }
}

async fn accept(listener: TcpListener, account: Arc<Account>, name: String, handler: Handler) {
    let mut connections = JoinSet::new(); // aborted with this task
    while let Ok((stream, _)) = listener.accept().await {
        let (account, name, handler) = (account.clone(), name.clone(), handler.clone());
        let service =
            service_fn(move |request| invoke(account.clone(), name.clone(), handler.clone(), request));
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        while connections.try_join_next().is_some() {}
    }
}

// Answers as Lambda's runtime does: the result, or an error with its type and message.
async fn invoke(
    account: Arc<Account>,
    name: String,
    handler: Handler,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let payload = request.into_body().collect().await?.to_bytes();
    let response = match handler(payload.clone()).await {
        Ok(result) => Response::builder().body(Full::new(result.into())),
        Err(Failed { kind, message }) => {
            let error = json!({"errorType": kind, "errorMessage": message});
            account.failures().add(&name, &kind, message, &payload);
            let body = Full::new(error.to_string().into());
            Response::builder().header("x-amz-function-error", "Unhandled").body(body)
        }
    };
    Ok(response.expect("headers that are valid"))
}
