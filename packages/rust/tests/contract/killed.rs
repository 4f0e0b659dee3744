use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;

/// Returns whether a server listens at `url`.
pub fn serves(url: &str) -> bool {
    TcpStream::connect(url.trim_start_matches("http://")).is_ok()
}

fn ends_soon(url: &str) {
    let until = Instant::now() + Duration::from_secs(10);
    while serves(url) {
        assert!(Instant::now() < until, "the server at {url} still runs ten seconds after its process ended");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test]
#[ignore = "a program that the tests below start"]
async fn a_program_with_a_server() -> Outcome {
    println!("{}", mayfly::server().await?.url());
    if std::env::var_os("MAYFLY_TEST_ENDS").is_none() {
        std::future::pending::<()>().await;
    }
    Ok(())
}

fn program(ends: bool, running: Option<&str>) -> Result<(Child, String), crate::Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["--ignored", "--exact", "killed::a_program_with_a_server", "--nocapture"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if ends {
        command.env("MAYFLY_TEST_ENDS", "1");
    }
    if let Some(url) = running {
        command.env("MAYFLY_URL", url).env("MAYFLY_BINARY", std::env::temp_dir().join("nowhere"));
    }
    let mut program = command.spawn()?;
    let lines = BufReader::new(program.stdout.take().unwrap()).lines().map_while(Result::ok);
    let url = lines.into_iter().find_map(|line| line.find("http://").map(|at| line[at..].to_owned()));
    Ok((program, url.ok_or("the program printed no URL")?))
}

#[test]
fn a_server_exits_when_the_test_process_is_killed() -> Outcome {
    let (mut program, url) = program(false, None)?;
    assert!(serves(&url));
    program.kill()?;
    program.wait()?;
    ends_soon(&url);
    Ok(())
}

#[test]
fn a_server_exits_when_its_parent_process_exits_without_dropping_it() -> Outcome {
    let (mut program, url) = program(true, None)?;
    program.wait()?;
    ends_soon(&url);
    Ok(())
}

#[tokio::test]
async fn a_server_at_mayfly_url_is_used_and_keeps_running() -> Outcome {
    let server = mayfly::Server::start().await?;
    let (mut program, url) = program(true, Some(server.url()))?;
    program.wait()?;
    assert_eq!(url, server.url());
    assert!(serves(&url));
    Ok(())
}
