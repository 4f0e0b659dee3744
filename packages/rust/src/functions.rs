use std::convert::Infallible;
use std::fmt::Display;
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

/// What a table's stream sends to a function.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct StreamEvent {
    /// Oldest first.
    #[serde(rename = "Records")]
    pub records: Vec<Record>,
}

/// A function that the world knows.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct RegisteredFunction {
    /// What mappings call it.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// How long an invocation may take.
    pub timeout_seconds: f64,
}

impl World {
    /// Registers a function of this program, which event source mappings and Lambda's Invoke call. It gets the decoded
    /// payload, and what it returns is encoded as JSON; an error fails the invocation.
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
    /// It is served on a free port of the loopback interface, by tasks of the runtime that this is called in, until the world
    /// is dropped. A server on another machine, or in a container, cannot reach it: see [`World::function_at`].
    pub async fn function<E, F, Fut, R, X>(&self, name: &str, function: F) -> Result<(), Error>
    where
        E: DeserializeOwned + Send + 'static,
        F: Fn(E) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, X>> + Send + 'static,
        R: Serialize + Send + 'static,
        X: Display + Send + 'static,
    {
        let not_served = |failure: std::io::Error| Error::Call {
            call: format!("serve {name}"),
            source: Arc::new(failure),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(not_served)?;
        let address = listener.local_addr().map_err(not_served)?;
        let serving = tokio::spawn(serve(listener, Arc::new(function)));
        self.account.served().push(serving.abort_handle());
        self.put_function(name, json!({"url": format!("http://{address}/")})).await
    }

    /// Registers the function that an address, `http://…`, answers for, and how long an invocation may take.
    pub async fn function_at(&self, name: &str, url: &str, timeout: Duration) -> Result<(), Error> {
        self.put_function(name, json!({"url": url, "timeout_seconds": timeout.as_secs_f64()})).await
    }

    /// Forgets one.
    pub async fn remove_function(&self, name: &str) -> Result<(), Error> {
        self.account.call("DELETE", &path(name), Value::Null).await.map(drop)
    }

    /// Those that are registered.
    pub async fn functions(&self) -> Result<Vec<RegisteredFunction>, Error> {
        #[derive(Deserialize)]
        struct Functions {
            functions: Vec<RegisteredFunction>,
        }
        let answer: Functions = self.account.control("GET", "/functions", Value::Null).await?;
        Ok(answer.functions)
    }

    async fn put_function(&self, name: &str, body: Value) -> Result<(), Error> {
        self.account.names().insert(name.into());
        self.account.call("PUT", &path(name), body).await.map(drop)
    }
}

fn path(name: &str) -> String {
    format!("/functions/{}", segment(name))
}

async fn serve<E, F, Fut, R, X>(listener: TcpListener, function: Arc<F>)
where
    E: DeserializeOwned + Send + 'static,
    F: Fn(E) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, X>> + Send + 'static,
    R: Serialize + Send + 'static,
    X: Display + Send + 'static,
{
    let mut connections = JoinSet::new(); // aborted with this task
    while let Ok((stream, _)) = listener.accept().await {
        let function = function.clone();
        let service = service_fn(move |request| invoke(function.clone(), request));
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        while connections.try_join_next().is_some() {}
    }
}

// Answers as Lambda's runtime does: the result, or an error with its type and message.
async fn invoke<E, F, Fut, R, X>(
    function: Arc<F>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible>
where
    E: DeserializeOwned,
    F: Fn(E) -> Fut,
    Fut: Future<Output = Result<R, X>>,
    R: Serialize,
    X: Display,
{
    let outcome = async {
        let payload = request.into_body().collect().await.map_err(|failure| failure.to_string())?.to_bytes();
        let event = serde_json::from_slice(&payload).map_err(|failure| failure.to_string())?;
        let result = function(event).await.map_err(|failure| failure.to_string())?;
        serde_json::to_vec(&result).map_err(|failure| failure.to_string())
    };
    let response = match outcome.await {
        Ok(result) => Response::builder().body(Full::new(result.into())),
        Err(message) => {
            let error = json!({"errorType": std::any::type_name::<X>(), "errorMessage": message});
            let body = Full::new(error.to_string().into());
            Response::builder().header("x-amz-function-error", "Unhandled").body(body)
        }
    };
    Ok(response.expect("headers that are valid"))
}

impl Account {
    // A reset leaves functions as they are.
    pub(crate) fn forget_functions(&self) -> Vec<Result<Request<Full<Bytes>>, hyper::http::Error>> {
        self.names().iter().map(|name| self.request("DELETE", &path(name), &Value::Null)).collect()
    }
}
