//! Tests the output of tests that fail.

use aws_sdk_dynamodb::types::AttributeValue;
use mayfly::Table;

use crate::{Outcome, carts, put_cart_with, run_ignored};

#[tokio::test]
#[ignore = "it fails. Tests below run it."]
async fn a_test_that_fails() -> Outcome {
    let other = mayfly::server().await?.world();
    let world = mayfly::world().await?;
    other.clock.freeze().await?;
    other.create_table(Table::new("others")).await?;
    world.explain("cards", ("id", "1")).await?;
    Ok(())
}

#[tokio::test]
#[ignore = "a test below runs it"]
async fn a_test_that_passes() -> Outcome {
    mayfly::world().await?.create_table(Table::new("passing")).await?;
    Ok(())
}

#[test]
fn a_failed_test_shows_the_log_of_its_own_world() -> Outcome {
    let names = ["report::a_test_that_fails", "report::a_test_that_passes"];
    let (passed, output) = run_ignored(&names, &[("MAYFLY_LOG_LEVEL", "debug")])?;
    assert!(!passed && output.contains("test report::a_test_that_passes ... ok"), "{output}");
    let error = output.split("Error: There is no table 'cards' in account ").nth(1);
    let account = error.and_then(|rest| rest.get(..12)).expect(&output);
    let log = format!("mayfly's log of this test (account {account}):\n");
    assert!(output.contains(&log), "{output}");
    assert!(output.contains(&format!("POST /_mayfly/ttl/cards/explain of account {account}")), "{output}");
    assert!(!output.contains("PUT /_mayfly/clock"), "the log has lines about another world: {output}");
    assert!(!output.contains("/_mayfly/reset"), "the log has lines about the end of the world: {output}");
    assert_eq!(output.matches("mayfly's log of this test").count(), 1, "{output}");
    Ok(())
}

#[test]
fn a_failed_start_fails_the_test_with_the_starts_error_message() -> Outcome {
    let (passed, output) =
        run_ignored(&["report::a_test_that_fails"], &[("MAYFLY_BINARY", "/nowhere/mayfly")])?;
    assert!(!passed, "{output}");
    let sentence = "Error: cannot run /nowhere/mayfly from MAYFLY_BINARY on ";
    assert!(output.contains(sentence), "{output}");
    Ok(())
}

#[tokio::test]
#[ignore = "it fails. A test below runs it."]
async fn a_test_that_fails_with_suspects() -> Outcome {
    let world = carts().await?;
    put_cart_with(&world, "1", AttributeValue::S("tomorrow".into())).await?;
    put_cart_with(&world, "2", AttributeValue::N("1".into())).await?;
    Err("the cart still exists".into())
}

#[test]
fn a_failed_test_lists_items_with_a_suspect_ttl() -> Outcome {
    let (passed, output) = run_ignored(&["report::a_test_that_fails_with_suspects"], &[])?;
    assert!(!passed, "{output}");
    let string = r#"mayfly: check the TTL of carts/{"id":{"S":"1"}}: ttl is a string ("tomorrow"), so it never expires; use a Number."#;
    assert!(output.contains(string), "{output}");
    assert!(output.contains(r#"mayfly: check the TTL of carts/{"id":{"S":"2"}}: ttl "#), "{output}");
    Ok(())
}
