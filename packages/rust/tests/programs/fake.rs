//! A program that is not a Mayfly server, or not a whole one. The tests start it instead of a server. It is an example, because
//! `cargo test` builds examples on every platform. The argument --fake says what it does.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process;
use std::thread;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let fake = arguments.iter().find_map(|argument| argument.strip_prefix("--fake="));
    match fake {
        // A server that ends immediately.
        Some("ends") => {
            eprintln!("no table can be laid");
            process::exit(3);
        }
        // A program that is not Mayfly.
        Some("greets") => println!("hello"),
        // A server that never answers. It writes its address to the file that the last argument names.
        Some("thinks") => {
            eprintln!("thinking");
            fs::write(arguments.last().unwrap(), listen(None)).unwrap();
        }
        // A server that answers health requests, and ends its lines as on Windows.
        Some("serves") => {
            let version = env!("CARGO_PKG_VERSION");
            let health = format!(r#"{{"status":"ok","version":"{version}"}}"#);
            eprint!("ready\r\n");
            print!("mayfly listening on http://{}\r\n", listen(Some(health)));
            std::io::stdout().flush().unwrap();
        }
        _ => return eprintln!("{} is a part of the tests: see tests/programs/fake.rs", arguments[0]),
    }
    thread::sleep(Duration::from_secs(60)); // the test ends the program earlier
}

// Listens on a free port. Each request gets `answer`, if there is one.
fn listen(answer: Option<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let (mut connection, Some(answer)) = (connection.unwrap(), &answer) else { continue };
            let length = answer.len();
            let _ = connection.read(&mut [0; 4096]);
            let _ = write!(
                connection,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}"
            );
        }
    });
    address
}
