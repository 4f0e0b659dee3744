//! A server for one test, in memory and on a free port. The program is `$MAYFLY_SERVER`, or the binary that
//! script/build creates.
//!
//! ```ignore
//! let mayfly = Mayfly::start();
//! mayfly.dynamodb().list_tables().send().await?;      // the server stops when `mayfly` is dropped
//! ```

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{Credentials, Region};
use aws_smithy_http_client::Builder;

pub struct Mayfly {
    executable: PathBuf,
    process: Child,
    directory: PathBuf,
    url: String,
}

impl Mayfly {
    pub fn start() -> Mayfly {
        let executable = env::var_os("MAYFLY_SERVER")
            .map(PathBuf::from)
            .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../build/release/mayfly"));
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let directory = env::temp_dir().join(format!("mayfly-test-{}-{number}", process::id()));
        fs::create_dir_all(&directory).expect("a directory for the port's file");
        let port_file = directory.join("port");
        let mut process = Command::new(&executable)
            .args(["serve", "--log-level", "warning", "--port", "0", "--port-file"])
            .arg(&port_file)
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", executable.display()));

        // The file appears, already complete, once the server accepts requests.
        let deadline = Instant::now() + Duration::from_secs(30);
        let port = loop {
            if let Ok(port) = fs::read_to_string(&port_file) {
                break port;
            }
            if let Some(status) = process.try_wait().expect("the process's state") {
                panic!("mayfly exited with {status} before it served");
            }
            assert!(Instant::now() < deadline, "mayfly does not serve after 30 s");
            thread::sleep(Duration::from_millis(5));
        };
        let url = format!("http://127.0.0.1:{}", port.trim());
        Mayfly { executable, process, directory, url }
    }

    /// Advances the clock like `mayfly clock advance 48h`. Returns once all expired items are deleted.
    pub fn advance(&self, by: &str) {
        let advanced = Command::new(&self.executable)
            .args(["clock", "advance", by, "--url", &self.url])
            .stdout(Stdio::null())
            .status()
            .expect("the command mayfly");
        assert!(advanced.success(), "{advanced}");
    }

    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version_latest()
            .endpoint_url(&self.url)
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "test"))
            .http_client(Builder::new().build_http())
            // A failed request must fail the test instead of being retried.
            .retry_config(RetryConfig::disabled())
            .build();
        aws_sdk_dynamodb::Client::from_conf(config)
    }

    pub fn streams(&self) -> aws_sdk_dynamodbstreams::Client {
        let config = aws_sdk_dynamodbstreams::Config::builder()
            .behavior_version_latest()
            .endpoint_url(&self.url)
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("test", "test", None, None, "test"))
            .http_client(Builder::new().build_http())
            .retry_config(RetryConfig::disabled())
            .build();
        aws_sdk_dynamodbstreams::Client::from_conf(config)
    }
}

impl Drop for Mayfly {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}
