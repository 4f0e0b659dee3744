// One request on a connection of its own. A connection that were kept would belong to the runtime of the test that
// opened it, and a shared server outlives that; over the loopback interface a new one costs some 0.1 ms. Nothing is
// spawned: who drops the future closes the connection, and the server sees that its caller has left.

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

// `url` is http://host:port. The answer is whole.
pub(crate) async fn exchange(url: &str, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, Failure> {
    let uri: hyper::Uri = url.parse()?;
    if uri.scheme_str() != Some("http") {
        return Err(format!("{url} is no address such as http://127.0.0.1:8000").into());
    }
    let authority = uri.authority().ok_or("the address has no host")?.clone();
    // An address of IPv6 stands in brackets.
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
        // Why the connection ended is what the answer says.
        never = async { let _ = connection.await; pending().await } => never,
    }
}

// For a destructor: in a thread of its own, because a runtime may be running on this one.
pub(crate) fn exchange_blocking(url: &str, requests: Vec<Request<Full<Bytes>>>, longest: Duration) {
    let url = url.to_owned();
    let work = std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let all = async {
                for request in requests {
                    let _ = exchange(&url, request).await;
                }
            };
            let _ = tokio::time::timeout(longest, all).await;
        });
    });
    let _ = work.join();
}
