use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mayfly::{Error, Options, Server};
use serde_json::Value;

use crate::{Outcome, killed};

/// Returns the path of a program in tests/programs. The tests do not write the programs themselves, because a program
/// that was just written can fail to start with ETXTBSY: a process that another test starts can have the file open for
/// a moment.
fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

fn of(binary: &Path) -> Options {
    Options { binary: Some(binary.into()), ..Default::default() }
}

async fn failure(options: Options) -> Error {
    Server::start_with(options).await.err().expect("the start fails")
}

fn archive() -> String {
    let version = env!("CARGO_PKG_VERSION").replace("0.0.0", "<version>");
    format!("mayfly-{version}-linux-{}.tar.gz", std::env::consts::ARCH)
}

#[tokio::test]
async fn a_server_answers_after_its_start_and_exits_when_it_is_dropped() -> Outcome {
    let server = Server::start().await?;
    let url = server.url().to_owned();
    assert!(url.starts_with("http://127.0.0.1:") && !server.version().is_empty());
    server.world().clock.freeze().await?;
    let world = server.world();
    drop(server);
    assert!(!killed::serves(&url));
    let error = world.clock.now().await.unwrap_err();
    assert!(matches!(error, Error::Ended { status, .. } if status.success()), "{error}");
    assert!(error.to_string().starts_with("the server has ended (exit status: 0);"), "{error}");
    Ok(())
}

#[tokio::test]
async fn args_are_passed_to_the_server_and_override_the_crates_own_arguments() -> Outcome {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let args =
        [format!("--port={port}"), "--clock".into(), "frozen".into(), "--accounts-max".into(), "7".into()];
    let options =
        Options { args: args.map(Into::into).into(), region: "eu-west-1".into(), ..Default::default() };
    let server = Server::start_with(options).await?;
    assert_eq!(server.url(), format!("http://127.0.0.1:{port}"));
    let world = server.world();
    assert_eq!(world.control("GET", "/clock", Value::Null).await?["mode"], "frozen");
    assert_eq!(world.control("GET", "/", Value::Null).await?["region"], "eu-west-1");
    Ok(())
}

#[tokio::test]
async fn a_binary_for_another_platform_is_rejected() {
    let path = program("other_platform");
    let error = failure(of(&path)).await;
    let (path, os, arch) = (path.display(), std::env::consts::OS, std::env::consts::ARCH);
    assert_eq!(
        error.to_string(),
        format!(
            "cannot run {path} from Options::binary on {os}/{arch} (Exec format error (os error 8)): set Options::binary \
             to bin/mayfly from {}, or unset it to use the mayfly on PATH",
            archive()
        )
    );
}

#[tokio::test]
async fn a_missing_binary_is_reported() {
    let options = Options { binary: Some("/nowhere/mayfly".into()), ..Default::default() };
    let error = failure(options).await;
    assert!(matches!(&error, Error::Binary { path, .. } if path == "/nowhere/mayfly"), "{error}");
    assert!(error.to_string().starts_with("cannot run /nowhere/mayfly from Options::binary on "), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_in_time_is_killed_and_reported_with_its_log() -> Outcome {
    let pid_file = std::env::temp_dir().join(format!("mayfly-thinks-{}", std::process::id()));
    let begun = Instant::now();
    let options = Options {
        args: vec![pid_file.clone().into()],
        start_timeout: Duration::from_millis(500),
        ..of(&program("thinks"))
    };
    let error = failure(options).await;
    assert_eq!(
        error.to_string(),
        "the server did not answer within 500ms; to wait longer, raise Options::start_timeout; its log ends with:\n    \
         thinking"
    );
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    let pid = fs::read_to_string(&pid_file)?;
    fs::remove_file(&pid_file)?;
    assert!(!Command::new("kill").args(["-0", pid.trim()]).output()?.status.success(), "the process runs");
    Ok(())
}

#[tokio::test]
async fn a_server_that_exits_before_it_answers_is_reported_with_status_and_log() {
    let path = program("ends");
    let error = failure(of(&path)).await;
    assert_eq!(
        error.to_string(),
        format!(
            "the server {} ended before it answered (exit status: 3); its log ends with:\n    no table can be laid",
            path.display()
        )
    );
    assert!(matches!(error, Error::StartEnded { status: Some(status), .. } if status.code() == Some(3)));
}

#[tokio::test]
async fn a_port_in_use_is_reported() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port().to_string();
    let error =
        failure(Options { args: vec!["--port".into(), port.clone().into()], ..Default::default() }).await;
    assert!(matches!(&error, Error::StartEnded { log, .. } if log.contains(&port)), "{error}");
    Ok(())
}

#[tokio::test]
async fn an_existing_server_is_used_and_keeps_running() -> Outcome {
    let server = Server::start().await?;
    let options = Options { url: Some(format!("{}/", server.url())), ..Default::default() };
    let used = Server::start_with(options).await?;
    assert_eq!(used.url(), server.url());
    used.world().clock.freeze().await?;
    drop(used);
    assert!(killed::serves(server.url()));
    Ok(())
}

#[tokio::test]
async fn a_url_where_no_mayfly_server_answers_is_reported() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let named = |url: &str| Options {
        url: Some(url.into()),
        start_timeout: Duration::from_millis(200),
        ..Default::default()
    };
    let silent = failure(named(&url)).await;
    assert_eq!(
        silent.to_string(),
        format!(
            "no Mayfly server answers at {url} (no answer within 200ms): start one there, or unset MAYFLY_URL and \
             Options::url to let the crate start one"
        )
    );
    drop(listener);
    let refused = failure(named(&url)).await;
    assert!(refused.to_string().contains("Connection refused"), "{refused}");
    let foreign = failure(named("ftp://127.0.0.1/")).await;
    assert!(
        foreign
            .to_string()
            .contains(r#"(expected a URL such as http://127.0.0.1:8000, got "ftp://127.0.0.1")"#),
        "{foreign}"
    );
    Ok(())
}

#[tokio::test]
async fn a_program_that_prints_an_unexpected_first_line_is_rejected() {
    let path = program("greets");
    let error = failure(of(&path)).await;
    let path = path.display();
    assert_eq!(
        error.to_string(),
        format!(r#"{path} is not Mayfly: its first line is "hello"; set MAYFLY_BINARY to a mayfly program"#)
    );
}

#[tokio::test]
async fn all_tests_share_a_server() -> Outcome {
    let (one, other) = (mayfly::world().await?, mayfly::world().await?);
    assert_eq!(one.url(), other.url());
    assert_eq!(one.url(), mayfly::server().await?.url());
    assert_ne!(one.account(), other.account());
    Ok(())
}
