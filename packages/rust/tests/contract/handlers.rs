//! Tests functions that fail.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mayfly::{Error, Event, HandlerError, StreamEvent, World};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::{Failure, HOUR, Outcome, carts, new_2031, put_cart, run_ignored};

async fn no_stamps(_: Value) -> Result<(), &'static str> {
    Err("no stamps")
}

async fn panics(event: StreamEvent) -> Result<(), &'static str> {
    panic!("no stamps for {} carts", event.records.len())
}

/// Creates a mapping from the stream of the table `carts` to the function `reminder`, and writes a cart. Without `retries`,
/// the server retries without a limit.
async fn trigger(world: &World, retries: Option<u64>) -> Outcome {
    let mut trigger = world.trigger("carts", "reminder");
    if let Some(retries) = retries {
        trigger = trigger.with("MaximumRetryAttempts", retries);
    }
    trigger.await?;
    put_cart(world, "1", new_2031() + HOUR).await
}

fn handler_error(error: Error) -> HandlerError {
    let Error::Handler(failed) = error else { panic!("{error}") };
    *failed
}

#[tokio::test]
async fn settle_returns_a_handlers_failure_once_with_its_records_and_attempts() -> Outcome {
    let world = carts().await?;
    world.function("reminder", no_stamps).await?;
    trigger(&world, Some(1)).await?;
    let error = world.settle().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "The handler of function reminder failed 2 times, last with: no stamps. Function reminder on table carts: 1 record \
         given up after 2 attempts (RetryAttemptsExhausted). If the test expects this, register the function with may_fail()."
    );
    let failed = handler_error(error);
    assert_eq!((failed.failures.len(), failed.given_up.len()), (2, 1));
    assert_eq!(failed.failures[0].kind, "&str");
    assert!(!failed.advanced.expect("the result of the advance").settled);

    assert!(world.settle().await?.settled);
    world.close().await?;
    Ok(())
}

#[tokio::test]
async fn a_handlers_panic_fails_an_advance_that_settles() -> Outcome {
    let world = carts().await?;
    world.function("reminder", panics).await?;
    trigger(&world, Some(0)).await?;
    let error = world.clock.advance(HOUR / 2).settle().await.unwrap_err();
    let begins =
        "The handler of function reminder failed with: panic: no stamps for 1 carts. Function reminder";
    assert!(error.to_string().starts_with(begins), "{error}");
    let advanced = handler_error(error).advanced.expect("the result of the advance");
    assert_eq!((advanced.now, advanced.given_up.len()), (new_2031() + HOUR / 2, 1));
    Ok(())
}

#[tokio::test]
async fn an_event_that_the_handler_cannot_decode_fails_settle() -> Outcome {
    let world = carts().await?;
    world.function("reminder", async |_: Vec<u8>| Ok::<_, String>(())).await?;
    trigger(&world, Some(0)).await?;
    let error = world.settle().await.unwrap_err();
    assert!(error.to_string().contains("failed with: invalid type: map, expected a sequence"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_failure_fails_settle_even_if_a_retry_succeeds() -> Outcome {
    let world = carts().await?;
    let calls = AtomicU64::new(0);
    let fails_first = move |_: Value| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        async move { if call == 0 { Err("no stamps") } else { Ok(()) } }
    };
    world.function("reminder", fails_first).await?;
    trigger(&world, None).await?;
    let failed = handler_error(world.settle().await.unwrap_err());
    assert_eq!((failed.failures.len(), failed.given_up.len(), failed.retrying.len()), (1, 0, 0));
    assert!(failed.advanced.expect("the result of the advance").settled);
    Ok(())
}

#[tokio::test]
async fn settle_does_not_wait_for_a_batch_that_is_retried_without_a_limit() -> Outcome {
    let world = carts().await?;
    world.function("reminder", no_stamps).await?;
    trigger(&world, None).await?;
    let error =
        world.clock.advance(Duration::ZERO).settle_within(Duration::from_secs(600)).await.unwrap_err();
    let text = " Function reminder on table carts: 1 record still being retried after ";
    assert!(error.to_string().contains(text), "{error}");
    let failed = handler_error(error);
    let retrying = failed.retrying[0].retrying.as_ref().expect("a batch that is retried");
    assert!(retrying.attempts >= 3, "{retrying:?}");
    assert_eq!((retrying.records, retrying.error.message.as_deref()), (1, Some("no stamps")));
    // close() does not report later failures of this batch.
    world.close().await?;
    Ok(())
}

#[tokio::test]
async fn a_batch_of_a_function_that_may_fail_is_given_up_without_an_error() -> Outcome {
    let world = carts().await?;
    world.function("reminder", no_stamps).may_fail().await?;
    trigger(&world, Some(2)).await?;
    let advanced = world.settle().await?;
    assert!(!advanced.settled && advanced.unfinished.is_empty(), "{advanced:?}");
    assert_eq!(advanced.given_up.len(), 1);
    let batch = &advanced.given_up[0];
    assert_eq!((batch.function.as_str(), batch.table.as_str()), ("reminder", "carts"));
    assert_eq!((batch.condition.as_str(), batch.attempts), ("RetryAttemptsExhausted", 3));
    assert_eq!(batch.error.message.as_deref(), Some("no stamps"));
    assert_eq!((batch.records.len(), batch.left_out), (1, 0));
    assert_eq!((batch.records[0].event, batch.records[0].key.s("id")), (Event::Insert, Some("1")));

    let failures = world.handler_failures();
    assert_eq!(failures.len(), 3);
    assert!(
        failures.iter().all(|failure| failure.may_fail && failure.message == "no stamps"),
        "{failures:?}"
    );
    world.check_handlers()?;
    world.close().await?;
    Ok(())
}

/// Registers a function `reminder` that fails. The receiver gets a value each time the function is called.
async fn called(world: &World) -> Result<mpsc::UnboundedReceiver<()>, Failure> {
    let (say, called) = mpsc::unbounded_channel();
    let reminder = move |_: Value| {
        let _ = say.send(());
        async { Err::<(), _>("no stamps") }
    };
    world.function("reminder", reminder).await?;
    Ok(called)
}

#[tokio::test]
async fn close_returns_failures_that_no_settle_returned() -> Outcome {
    let world = carts().await?;
    let mut called = called(&world).await?;
    trigger(&world, Some(1)).await?;
    called.recv().await;
    called.recv().await; // by the second call, the first call's failure has been recorded
    world.clock.advance(HOUR).await?; // an advance that does not settle
    let error = world.close().await.unwrap_err();
    assert!(error.to_string().starts_with("The handler of function reminder failed"), "{error}");
    assert!(handler_error(error).advanced.is_none());
    Ok(())
}

#[tokio::test]
async fn settle_fails_if_a_triggers_function_is_not_registered() -> Outcome {
    let world = carts().await?;
    let uuid = world.trigger("carts", "remindr").await?;
    assert!(world.settle().await?.settled); // there are no records yet
    put_cart(&world, "1", new_2031() + HOUR).await?;
    let error = world.settle().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Function remindr is not registered, but a trigger of table carts has records for it. Register the function, or \
         correct the trigger's function name."
    );
    let failed = handler_error(error);
    assert_eq!((failed.unregistered.len(), failed.unregistered[0].uuid.as_str()), (1, uuid.as_str()));
    assert!(!failed.advanced.expect("the result of the advance").settled);
    world.function("remindr", async |_: Value| Ok::<(), String>(())).await?;
    assert!(world.settle().await?.settled);
    Ok(())
}

#[tokio::test]
async fn close_delivers_records_that_no_settle_delivered() -> Outcome {
    let world = carts().await?;
    world.function("reminder", no_stamps).await?;
    world
        .trigger("carts", "reminder")
        .with("MaximumBatchingWindowInSeconds", 300)
        .with("MaximumRetryAttempts", 0)
        .await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    let error = world.close().await.unwrap_err();
    assert!(
        error.to_string().starts_with("The handler of function reminder failed with: no stamps."),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn dropping_a_world_panics_with_failures_that_no_call_returned() -> Outcome {
    let world = carts().await?;
    let mut called = called(&world).await?;
    trigger(&world, Some(1)).await?;
    called.recv().await;
    called.recv().await; // by the second call, the first call's failure has been recorded
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(world))).unwrap_err();
    let message = panic.downcast_ref::<String>().expect("a sentence");
    assert!(message.starts_with("The handler of function reminder failed"), "{message}");
    Ok(())
}

/// Serves one request as a function that fails with an AssertionError. Returns the function's URL.
async fn function_elsewhere() -> Result<String, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        let mut received = Vec::new();
        // The request is complete when its body is valid JSON.
        while serde_json::from_slice::<Value>(body(&received)).is_err() {
            if stream.read_buf(&mut received).await? == 0 {
                break;
            }
        }
        let body = r#"{"errorType":"AssertionError","errorMessage":"assert 1 == 2"}"#;
        let head = "HTTP/1.1 200 OK\r\nx-amz-function-error: Unhandled\r\nconnection: close";
        stream.write_all(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await
    });
    Ok(url)
}

fn body(request: &[u8]) -> &[u8] {
    let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    end.map_or(&[], |end| &request[end + 4..])
}

#[tokio::test]
async fn a_failure_of_a_function_at_a_url_fails_settle_unless_the_function_may_fail() -> Outcome {
    for may_fail in [false, true] {
        let world = carts().await?;
        let function = world.function_at("reminder", &function_elsewhere().await?);
        if may_fail {
            function.may_fail().await?
        } else {
            function.await?
        }
        trigger(&world, Some(0)).await?;
        let settled = world.settle().await;
        if may_fail {
            assert_eq!(settled?.given_up.len(), 1);
        } else {
            assert_eq!(
                settled.unwrap_err().to_string(),
                "Function reminder on table carts: 1 record given up after 1 attempt (RetryAttemptsExhausted), last error: \
                 AssertionError: assert 1 == 2. If the test expects this, register the function with may_fail()."
            );
        }
    }
    Ok(())
}

#[tokio::test]
#[ignore = "it fails. A test below runs it."]
async fn a_test_settles() -> Outcome {
    let world = carts().await?;
    world.function("reminder", panics).await?;
    trigger(&world, Some(0)).await?;
    world.settle().await?;
    Ok(())
}

#[tokio::test]
#[ignore = "it fails. A test below runs it."]
async fn a_test_does_not_settle() -> Outcome {
    let world = carts().await?;
    let mut called = called(&world).await?;
    trigger(&world, Some(1)).await?;
    called.recv().await;
    called.recv().await;
    Ok(())
}

#[tokio::test]
#[ignore = "it fails. A test below runs it."]
async fn a_test_panics() -> Outcome {
    let world = carts().await?;
    let mut called = called(&world).await?;
    trigger(&world, Some(1)).await?;
    called.recv().await;
    called.recv().await;
    panic!("the test itself");
}

#[tokio::test]
#[ignore = "a test below runs it"]
async fn a_test_expects_the_failure() -> Outcome {
    let world = carts().await?;
    world.function("reminder", no_stamps).may_fail().await?;
    trigger(&world, Some(0)).await?;
    world.settle().await?;
    assert_eq!(world.handler_failures().len(), 1);
    Ok(())
}

#[test]
fn a_failing_handler_fails_its_test() -> Outcome {
    let (passed, output) = run_ignored(&["handlers::a_test_settles"], &[])?;
    assert!(!passed, "{output}");
    let sentence = "Error: The handler of function reminder failed with: panic: no stamps for 1 carts. Function reminder on \
                    table carts: 1 record given up after 1 attempt (RetryAttemptsExhausted). If the test expects this, register \
                    the function with may_fail().";
    assert!(output.contains(sentence), "{output}");
    assert!(output.contains("handlers.rs:"), "the output lacks the panic's location: {output}");
    assert_eq!(output.matches("If the test expects this").count(), 1, "{output}");

    let (passed, output) = run_ignored(&["handlers::a_test_does_not_settle"], &[])?;
    assert!(!passed, "{output}");
    assert!(output.contains("The handler of function reminder failed"), "{output}");
    assert!(output.contains("mayfly: the handler of function reminder failed with: no stamps"), "{output}");
    Ok(())
}

#[test]
fn a_test_that_panics_shows_its_own_panic_and_the_handlers_failure() -> Outcome {
    let (passed, output) = run_ignored(&["handlers::a_test_panics"], &[])?;
    assert!(!passed, "{output}");
    assert!(output.contains("the test itself"), "{output}");
    assert!(output.contains("mayfly: the handler of function reminder failed with: no stamps"), "{output}");
    assert!(!output.contains("If the test expects this"), "{output}");
    Ok(())
}

#[test]
fn an_expected_failure_is_not_printed() -> Outcome {
    let (passed, output) = run_ignored(&["handlers::a_test_expects_the_failure", "--nocapture"], &[])?;
    assert!(passed && !output.contains("no stamps"), "{output}");
    Ok(())
}
