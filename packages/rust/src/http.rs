// HTTP with one request per connection. A connection that stayed open would belong to the runtime of the test that
// opened it, so other tests, which have their own runtimes, could not use it. On the loopback interface, a new
// connection costs about 0.1 ms.
//
// No task is spawned, so that the connection closes when the future is dropped, and the server sees that the client has
// disconnected.

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

// Sends a request to `url`, http://host:port, and returns the response with its whole body.
pub(crate) async fn exchange(url: &str, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, Failure> {
    let uri: hyper::Uri = url.parse()?;
    if uri.scheme_str() != Some("http") {
        return Err(format!("expected a URL such as http://127.0.0.1:8000, got {url:?}").into());
    }
    let authority = uri.authority().ok_or("the URL has no host")?.clone();
    // In a URL, an IPv6 address is in brackets, which `connect` does not accept.
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
        // If the connection ends, `answer` returns the error.
        never = async { let _ = connection.await; pending().await } => never,
    }
}

// Sends the requests one after the other, for at most `longest`, and returns the response bodies up to the first failure.
// This function is for destructors. It uses a separate thread, because a runtime may be running on the caller's thread.
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
