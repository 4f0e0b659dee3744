use mayfly::Error;
use serde_json::{Value, json};

use crate::{Outcome, carts};

#[tokio::test]
async fn control_can_make_any_call_to_the_control_api_for_its_world() -> Outcome {
    let world = carts().await?;
    let index = world.control("GET", "/", Value::Null).await?;
    assert_eq!(
        (index["account"].as_str(), index["region"].as_str()),
        (Some(world.account()), Some("us-east-1"))
    );
    let shards = world.control("POST", "/streams/carts/split", json!({})).await?;
    let open = shards["shards"].as_array().unwrap().iter().filter(|shard| shard["open"] == true);
    assert_eq!(open.count(), 2);
    Ok(())
}

#[tokio::test]
async fn a_control_error_has_a_kind_a_message_and_a_status() -> Outcome {
    let world = carts().await?;
    let error = world.control("PUT", "/ttl/cards", json!({"mode": "exact"})).await.unwrap_err();
    let Error::Refused(refusal) = &error else { panic!("{error}") };
    assert_eq!((refusal.kind.as_str(), refusal.status), ("NotFound", 404));
    assert!(!refusal.message.is_empty() && error.to_string().contains(&refusal.message), "{error}");

    let error = world.control("PUT", "/clock", json!({"mood": "frozen"})).await.unwrap_err();
    assert!(error.to_string().contains("mood"), "{error}");
    Ok(())
}
