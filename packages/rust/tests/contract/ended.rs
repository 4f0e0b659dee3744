use std::fs;
use std::process::Command;

use mayfly::{Error, Table};

use crate::{Failure, Outcome, run_ignored};

const KILLED: &str = "the server has ended (signal: 9 (SIGKILL));";

/// Kills the servers that this process has started.
fn kill_servers() -> Outcome {
    let mut killed = 0;
    for task in fs::read_dir("/proc/self/task")? {
        let children = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            assert!(Command::new("kill").args(["-9", child]).status()?.success());
            killed += 1;
        }
    }
    if killed == 0 { Err("no server is running".into()) } else { Ok(()) }
}

#[tokio::test]
#[ignore = "it fails. A test below runs it."]
async fn a_test_calls_settle_after_its_server_dies() -> Outcome {
    let world = mayfly::world().await?;
    world.create_table(Table::new("carts")).await?;
    kill_servers()?;
    world.settle().await?;
    Ok(())
}

#[tokio::test]
#[ignore = "it fails. A test below runs it."]
async fn a_test_calls_the_sdk_after_its_server_dies() -> Outcome {
    let world = mayfly::world().await?;
    kill_servers()?;
    world.dynamodb().list_tables().send().await.map_err(aws_sdk_dynamodb::Error::from)?;
    Ok(())
}

#[tokio::test]
#[ignore = "a test below runs it"]
async fn the_next_test_has_a_server() -> Outcome {
    let world = mayfly::world().await?;
    world.create_table(Table::new("carts")).await?;
    Ok(())
}

/// Runs the named test and then `the_next_test_has_a_server` in the same process. Returns their output.
fn failed_before_the_next(name: &str) -> Result<String, Failure> {
    let (_, output) = run_ignored(&[name, "ended::the_next_test_has_a_server"], &[])?;
    assert!(output.contains(&format!("test {name} ... FAILED")), "{output}");
    assert!(output.contains("test ended::the_next_test_has_a_server ... ok"), "{output}");
    assert_eq!(output.matches("the server has ended").count(), 1, "{output}");
    Ok(output)
}

#[test]
fn after_a_servers_death_a_call_reports_the_death_and_the_next_test_gets_a_new_server() -> Outcome {
    let output = failed_before_the_next("ended::a_test_calls_settle_after_its_server_dies")?;
    assert!(output.contains(&format!("Error: {KILLED} its log ends with:\n    ")), "{output}");
    Ok(())
}

#[test]
fn an_sdk_call_reports_a_dead_server() -> Outcome {
    let output = failed_before_the_next("ended::a_test_calls_the_sdk_after_its_server_dies")?;
    assert!(output.contains(KILLED), "{output}");
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
        assert!(matches!(&error, Error::Ended { status, .. } if status.success()), "{error}");
        assert!(error.to_string().starts_with("the server has ended (exit status: 0);"), "{error}");
    }
    Ok(())
}
