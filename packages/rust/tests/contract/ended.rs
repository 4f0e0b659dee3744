//! Tests what happens after a server is killed. Windows has no program that kills the child processes of a process, so these
//! tests run only on Unix.

use std::process::Command;

use mayfly::Table;

use crate::{Failure, Outcome, run_ignored};

const KILLED: &str = "the server has ended (signal: 9 (SIGKILL));";

/// Kills the servers that this process has started.
#[cfg(not(target_os = "linux"))]
fn kill_servers() -> Outcome {
    let parent = std::process::id().to_string();
    let killed = Command::new("pkill").args(["-KILL", "-P", &parent]).status()?;
    if killed.success() { Ok(()) } else { Err("no server is running".into()) }
}

/// Kills the servers that this process has started. Images of Linux often lack pkill.
#[cfg(target_os = "linux")]
fn kill_servers() -> Outcome {
    let mut killed = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let children = std::fs::read_to_string(task?.path().join("children")).unwrap_or_default();
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
