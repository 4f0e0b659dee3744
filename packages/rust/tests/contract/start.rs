use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use mayfly::{Error, Options, Server, Table};
use serde_json::Value;

use crate::{DROPPED, Outcome, killed};

/// Returns options that start tests/programs/fake.rs as the program with this name.
fn fake(name: &str) -> Options {
    let test = std::env::current_exe().unwrap();
    let program = format!("fake{}", std::env::consts::EXE_SUFFIX);
    let path = test.ancestors().nth(2).unwrap().join("examples").join(program);
    assert!(path.exists(), "{} not found: run `cargo test`, which builds it", path.display());
    Options { binary: Some(path), args: vec![format!("--fake={name}").into()], ..Default::default() }
}

async fn failure(options: Options) -> Error {
    Server::start_with(options).await.err().expect("the start fails")
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
    assert!(error.to_string().starts_with(&format!("the server has ended ({DROPPED});")), "{error}");
    Ok(())
}

#[tokio::test]
async fn calls_after_the_server_was_dropped_report_that_the_server_has_ended() -> Outcome {
    let server = mayfly::Server::start().await?;
    let world = server.world();
    drop(server);
    for error in [
        world.create_table(Table::new("carts")).await.unwrap_err(),
        world.settle().await.unwrap_err(),
        world.ttl_suspects().await.unwrap_err(),
        world.wait_for("carts", ("id", "1")).await.unwrap_err(),
        world.trigger("carts", "reminder").await.unwrap_err(),
    ] {
        assert!(matches!(&error, Error::Ended { .. }), "{error}");
        assert!(error.to_string().starts_with(&format!("the server has ended ({DROPPED});")), "{error}");
    }
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
async fn a_missing_binary_is_reported() {
    let missing = std::env::temp_dir().join("nowhere").join("mayfly");
    let options = Options { binary: Some(missing.clone()), ..Default::default() };
    let error = failure(options).await;
    assert!(matches!(&error, Error::Binary { path, .. } if *path == missing), "{error}");
    let begin = format!("cannot run {} from Options::binary on ", missing.display());
    assert!(error.to_string().starts_with(&begin), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_in_time_is_killed_and_reported_with_its_log() -> Outcome {
    let address_file = std::env::temp_dir().join(format!("mayfly-thinks-{}", std::process::id()));
    let begun = Instant::now();
    let mut options = Options { start_timeout: Duration::from_millis(500), ..fake("thinks") };
    options.args.push(address_file.clone().into());
    let error = failure(options).await;
    assert_eq!(
        error.to_string(),
        "the server did not answer within 500ms; to wait longer, raise Options::start_timeout; its log ends with:\n    \
         thinking"
    );
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    let address = fs::read_to_string(&address_file)?;
    fs::remove_file(&address_file)?;
    assert!(!killed::serves(&address), "the process runs");
    Ok(())
}

#[tokio::test]
async fn a_server_that_exits_before_it_answers_is_reported_with_status_and_log() {
    let options = fake("ends");
    let path = options.binary.clone().unwrap();
    let error = failure(options).await;
    let status = if cfg!(windows) { "exit code: 3" } else { "exit status: 3" };
    assert_eq!(
        error.to_string(),
        format!(
            "the server {} ended before it answered ({status}); its log ends with:\n    no table can be laid",
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
    assert!(refused.to_string().contains("refused"), "{refused}");
    let foreign = failure(named("ftp://127.0.0.1/")).await;
    assert!(
        foreign
            .to_string()
            .contains(r#"(expected a URL such as http://127.0.0.1:8000, got "ftp://127.0.0.1")"#),
        "{foreign}"
    );
    Ok(())
}

/// Opens a program so that it cannot be started until the file is closed.
#[cfg(any(target_os = "linux", windows))]
fn held(path: &std::path::Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 0);
    #[cfg(target_os = "linux")]
    options.write(true);
    options.open(path)
}

/// Returns options that start a copy of tests/programs/fake.rs as a server, and the copy's path.
#[cfg(any(target_os = "linux", windows))]
fn copied(name: &str) -> Result<(Options, std::path::PathBuf), crate::Failure> {
    let options = fake("serves");
    let name = format!("mayfly-{name}-{}{}", std::process::id(), std::env::consts::EXE_SUFFIX);
    let path = std::env::temp_dir().join(name);
    fs::copy(options.binary.as_ref().unwrap(), &path)?;
    Ok((Options { binary: Some(path.clone()), ..options }, path))
}

#[cfg(any(target_os = "linux", windows))]
#[tokio::test]
async fn a_program_that_another_process_holds_for_a_moment_is_started() -> Outcome {
    let (options, path) = copied("held-shortly")?;
    let held = held(&path)?;
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(held);
    });
    let server = Server::start_with(options).await?;
    assert!(killed::serves(server.url()));
    drop(server);
    fs::remove_file(path)?;
    Ok(())
}

#[cfg(any(target_os = "linux", windows))]
#[tokio::test]
async fn a_program_that_another_process_holds_for_too_long_is_reported() -> Outcome {
    let (options, path) = copied("held-long")?;
    let held = held(&path)?;
    let error = failure(options).await;
    drop(held);
    fs::remove_file(&path)?;
    let directory = path.parent().unwrap().display();
    let sentence = format!(
        "): another process, such as a virus scanner, may have the file open: exclude {directory} from virus scans, or set \
         MAYFLY_BINARY to a program in another directory"
    );
    assert!(error.to_string().ends_with(&sentence), "{error}");
    Ok(())
}

/// The program ends its lines as a server on Windows does.
#[tokio::test]
async fn lines_that_end_with_a_carriage_return_are_read() -> Outcome {
    let server = Server::start_with(fake("serves")).await?;
    assert!(
        server.url().starts_with("http://127.0.0.1:") && !server.url().ends_with('\r'),
        "{:?}",
        server.url()
    );
    assert_eq!(server.log(), "ready\n");
    Ok(())
}

#[tokio::test]
async fn a_program_that_prints_an_unexpected_first_line_is_rejected() {
    let options = fake("greets");
    let path = options.binary.clone().unwrap();
    let path = path.display();
    let error = failure(options).await;
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
