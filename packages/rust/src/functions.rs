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

/// The event that an event source mapping sends to a function.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct StreamEvent {
    /// The stream records, oldest first.
    #[serde(rename = "Records")]
    pub records: Vec<Record>,
}

/// The registration of a function.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct RegisteredFunction {
    /// The function's name in event source mappings.
    pub name: String,
    /// The function's URL.
    pub url: String,
    /// The time limit of an invocation, in seconds.
    pub timeout_seconds: f64,
}

// Calls a function with a payload. Returns its result as JSON, or how the invocation failed.
type Handler =
    Arc<dyn Fn(Bytes) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, Failed>> + Send>> + Send + Sync>;

struct Failed {
    kind: String,
    message: String,
}

impl World {
    /// Registers a function in this process, for event source mappings and Lambda's Invoke. The function receives the
    /// decoded payload, and its result is encoded as JSON. The registration is sent when the returned [`Function`] is
    /// awaited; set [`Function::timeout`] and [`Function::may_fail`] before you await it.
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
    /// If the function returns an error or panics, the invocation and the test fail. The failure is printed, and the
    /// next [`World::settle`], settled advance, [`World::close`] or [`World::check_handlers`] returns it as
    /// [`Error::Handler`]. If the test calls none of these methods, the world panics when it is dropped. If the test
    /// expects failures, call [`Function::may_fail`].
    ///
    /// The function is served on a free port of the loopback interface until the world is dropped, by tasks of the runtime
    /// in which it is registered. A server on another machine or in a container cannot reach the function;
    /// for such a server, use [`World::function_at`].
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

    /// Registers a function that runs at a URL, `http://…`. The registration is sent when the returned [`Function`] is
    /// awaited.
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

    /// Returns all registered functions.
    pub async fn functions(&self) -> Result<Vec<RegisteredFunction>, Error> {
        #[derive(Deserialize)]
        struct Functions {
            functions: Vec<RegisteredFunction>,
        }
        let answer: Functions = self.account.control("GET", "/functions", Value::Null).await?;
        Ok(answer.functions)
    }
}

/// The registration of a function. It is sent when this value is awaited. [`World::function`] and
/// [`World::function_at`] return this value.
#[must_use = "a function is not registered until this is awaited"]
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
    /// Sets the time limit of an invocation. The default is one minute.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Declares that the test expects the function to fail. The function's failures are neither printed nor returned as
    /// errors, but [`World::handler_failures`] includes them.
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

// Converts a panic to a failure. The panic hook has already printed the panic with its location and, if RUST_BACKTRACE is
// set, a backtrace.
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
    // Serves the function and returns its URL.
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

    // Returns requests that remove the registered functions, because a reset does not remove them.
    pub(crate) fn forget_functions(&self) -> Vec<Result<Request<Full<Bytes>>, hyper::http::Error>> {
        self.names().iter().map(|name| self.request("DELETE", &path(name), &Value::Null)).collect()
    }
}

async fn accept(listener: TcpListener, account: Arc<Account>, name: String, handler: Handler) {
    let mut connections = JoinSet::new(); // their tasks are aborted when this task ends
    while let Ok((stream, _)) = listener.accept().await {
        let (account, name, handler) = (account.clone(), name.clone(), handler.clone());
        let service =
            service_fn(move |request| invoke(account.clone(), name.clone(), handler.clone(), request));
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        while connections.try_join_next().is_some() {}
    }
}

// Responds as Lambda's runtime does: with the result, or with an error's type and message.
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
    Ok(response.expect("valid headers"))
}
