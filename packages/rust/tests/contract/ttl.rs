use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::AttributeValue;
use mayfly::{Key, TtlMode, TtlReason};
use serde_json::json;

use crate::{HOUR, MILLISECOND, Outcome, carts, has_cart, new_2031, put_cart, put_cart_with, seconds};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_ttl_status_counts_pending_items() -> Outcome {
    let world = carts().await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    let status = world.ttl("carts").status().await?;
    assert_eq!((status.status.as_str(), status.attribute.as_deref()), ("ENABLED", Some("ttl")));
    assert_eq!((status.mode, status.pending, status.due), (TtlMode::Exact, 1, 0));
    assert_eq!(status.next_due, Some(new_2031() + HOUR + MILLISECOND));

    let upcoming = world.ttl("carts").upcoming(10).await?;
    assert_eq!(upcoming.len(), 1);
    assert_eq!(upcoming[0].key.s("id"), Some("1"));
    assert_eq!(upcoming[0].expires_at, Some(new_2031() + HOUR + MILLISECOND));
    Ok(())
}

#[tokio::test]
async fn in_manual_mode_only_a_sweep_deletes_items() -> Outcome {
    let world = carts().await?;
    let ttl = world.ttl("carts");
    ttl.manual().await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    world.clock.advance(2 * HOUR).await?;
    assert!(has_cart(&world, "1").await?);
    assert_eq!(ttl.upcoming(10).await?[0].expires_at, None);
    assert_eq!(ttl.sweep().await?, 1);
    assert!(!has_cart(&world, "1").await?);
    Ok(())
}

#[tokio::test]
async fn in_aws_mode_items_are_deleted_late() -> Outcome {
    let world = carts().await?;
    let ttl = world.ttl("carts");
    ttl.aws(10 * MINUTE, 20 * MINUTE, 7).await?;
    assert_eq!(ttl.status().await?.delay_seconds, Some((600.0, 1200.0)));
    put_cart(&world, "1", new_2031() + HOUR).await?;
    world.clock.advance(HOUR + Duration::from_secs(1)).await?;
    assert!(has_cart(&world, "1").await?);
    assert_eq!(ttl.explain(("id", "1")).await?.reason, "delayed");
    world.clock.advance(20 * MINUTE).await?;
    assert!(!has_cart(&world, "1").await?);
    ttl.exact().await?;
    assert_eq!(ttl.status().await?.mode, TtlMode::Exact);
    Ok(())
}

#[tokio::test]
async fn explain_says_why_an_item_still_exists_or_why_it_does_not() -> Outcome {
    let world = carts().await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    let key = Key::from(json!({"id": {"S": "1"}}));
    let explanation = world.ttl("carts").explain(key).await?;
    assert_eq!(explanation.reason, "not_due");
    assert_eq!(explanation.expires_at, Some(new_2031() + HOUR + MILLISECOND));
    assert!(explanation.message.contains(&seconds(new_2031() + HOUR).to_string()), "{}", explanation.message);
    world.clock.advance(2 * HOUR).await?;
    assert_eq!(world.explain("carts", ("id", "1")).await?.reason, "expired");

    // A program that takes the time from the host's clock writes an item whose TTL has already passed.
    put_cart(&world, "2", SystemTime::now() + HOUR).await?;
    assert_eq!(world.explain("carts", ("id", "2")).await?.reason, "born_expired");
    assert_eq!(world.ttl("carts").status().await?.born_expired, 1);
    Ok(())
}

#[tokio::test]
async fn an_advance_and_the_status_count_items_whose_ttl_can_never_fire() -> Outcome {
    let world = carts().await?;
    let milliseconds = (seconds(new_2031()) * 1000).to_string();
    put_cart_with(&world, "1", AttributeValue::N(milliseconds.clone())).await?;
    put_cart_with(&world, "2", AttributeValue::N(milliseconds)).await?;
    put_cart_with(&world, "3", AttributeValue::S("tomorrow".into())).await?;
    put_cart_with(&world, "4", AttributeValue::Bool(true)).await?;
    put_cart_with(&world, "5", AttributeValue::N("-1".into())).await?;
    put_cart(&world, "6", new_2031() - HOUR).await?;
    let advanced = world.clock.advance(HOUR).await?;
    let never = BTreeMap::from([
        (TtlReason::Milliseconds, 2),
        (TtlReason::String, 1),
        (TtlReason::WrongType, 1),
        (TtlReason::TooOld, 1),
    ]);
    assert_eq!(advanced.never, BTreeMap::from([("carts".to_owned(), never.clone())]));
    assert_eq!(advanced.born_expired, BTreeMap::from([("carts".to_owned(), 1)]));
    let status = world.ttl("carts").status().await?;
    assert_eq!(status.never, never);
    assert_eq!(status.suspects.len(), 6);
    Ok(())
}

#[tokio::test]
async fn a_ttl_suspect_has_a_table_key_reason_time_and_message() -> Outcome {
    let world = carts().await?;
    put_cart_with(&world, "1", AttributeValue::S("tomorrow".into())).await?;
    let suspects = world.ttl_suspects().await?;
    assert_eq!(suspects.len(), 1);
    let suspect = &suspects[0];
    assert_eq!((suspect.table.as_str(), suspect.key.s("id")), ("carts", Some("1")));
    assert_eq!((suspect.reason, suspect.at), (TtlReason::String, Some(new_2031())));
    assert_eq!(suspect.message, r#"ttl is a string ("tomorrow"), so it never expires; use a Number."#);
    Ok(())
}
