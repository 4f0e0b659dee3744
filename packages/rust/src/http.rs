// One request per connection. A connection that is kept open would belong to the runtime of the test that opened it, and a
// shared server outlives that. Over the loopback interface a new one costs about 0.1 ms. No task is spawned: dropping the
// future closes the connection, so that the server notices that the client has gone.

use std::error::Error as StdError;
use std::future::pending;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

pub(crate) type Failure = Box<dyn StdError + Send + Sync>;

// `url` is http://host:port. The answer is complete.
pub(crate) async fn exchange(url: &str, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, Failure> {
    let uri: hyper::Uri = url.parse()?;
    if uri.scheme_str() != Some("http") {
        return Err(format!("{url:?} must be an address such as http://127.0.0.1:8000").into());
    }
    let authority = uri.authority().ok_or("the address has no host")?.clone();
    // An IPv6 address is in brackets.
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, authority.port_u16().unwrap_or(80))).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let (mut parts, body) = request.into_parts();
    parts.headers.insert("host", authority.as_str().parse()?);
    let answer = async {
        let (head, body) = sender.send_request(Request::from_parts(parts, body)).await?.into_parts();
        Ok::<_, Failure>(Response::from_parts(head, body.collect().await?.to_bytes()))
    };
    tokio::select! {
        answer = answer => answer,
        // If the connection ends, the answer is the error that says why.
        never = async { let _ = connection.await; pending().await } => never,
    }
}

// For a destructor: in a thread of its own, because a runtime may be running on this one.
// Returns the bodies of the answers up to the first failure.
pub(crate) fn exchange_blocking(
    url: &str,
    requests: Vec<Request<Full<Bytes>>>,
    longest: Duration,
) -> Vec<Bytes> {
    let url = url.to_owned();
    let work = std::thread::spawn(move || {
        let mut answers = Vec::new();
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return answers;
        };
        runtime.block_on(async {
            let all = async {
                for request in requests {
                    let Ok(answer) = exchange(&url, request).await else { return };
                    answers.push(answer.into_body());
                }
            };
            let _ = tokio::time::timeout(longest, all).await;
        });
        answers
    });
    work.join().unwrap_or_default()
}
