use std::sync::{Arc, Mutex};
use std::time::Duration;

use mayfly::{By, Error, Event, StreamEvent};
use serde_json::json;

use crate::{HOUR, Outcome, carts, new_2031, put_cart};

#[tokio::test]
async fn a_function_receives_expired_items() -> Outcome {
    let world = carts().await?;
    let reminded = Arc::new(Mutex::new(Vec::new()));
    let into = reminded.clone();
    world
        .function("reminder", move |event: StreamEvent| {
            let into = into.clone();
            async move {
                into.lock().unwrap().extend(event.records);
                Ok::<_, String>(())
            }
        })
        .await?;
    let expired = r#"{"userIdentity":{"type":["Service"],"principalId":["dynamodb.amazonaws.com"]}}"#;
    let filters = json!({"Filters": [{"Pattern": expired}]});
    world.trigger("carts", "reminder").with("FilterCriteria", filters).await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;

    let advanced = world.clock.advance(2 * HOUR).settle().await?;
    assert!(advanced.settled, "{:?}", advanced.unfinished);
    let reminded = reminded.lock().unwrap();
    assert_eq!(reminded.len(), 1);
    assert_eq!((reminded[0].event, reminded[0].by), (Event::Remove, By::Service));
    Ok(())
}

#[tokio::test]
async fn function_at_registers_a_function_by_its_url() -> Outcome {
    let world = carts().await?;
    let url = "http://127.0.0.1:9000/2015-03-31/functions/function/invocations";
    world.function_at("reminder", url).timeout(Duration::from_secs(3)).await?;
    let functions = world.functions().await?;
    assert_eq!(functions.len(), 1);
    assert_eq!((functions[0].name.as_str(), functions[0].url.as_str()), ("reminder", url));
    assert_eq!(functions[0].timeout_seconds, 3.0);
    world.remove_function("reminder").await?;
    assert!(world.functions().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn an_invalid_trigger_is_rejected() -> Outcome {
    let world = carts().await?;
    let Err(Error::Refused(missing)) = world.trigger("cards", "reminder").await else {
        panic!("a trigger for a missing table was created")
    };
    assert_eq!((missing.kind.as_str(), missing.status), ("ResourceNotFoundException", 400));
    let Err(Error::Refused(refusal)) = world.trigger("carts", "reminder").with("BatchSize", 0).await else {
        panic!("BatchSize 0 was accepted");
    };
    assert_eq!((refusal.kind.as_str(), refusal.status), ("ValidationException", 400));
    assert!(!refusal.message.is_empty(), "{refusal:?}");
    Ok(())
}
