use std::time::{Duration, SystemTime};

use mayfly::{Key, TtlMode};
use serde_json::json;

use crate::{HOUR, MILLISECOND, Outcome, carts, has_cart, new_2031, put_cart, seconds};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn ttl_tells_what_is_pending() -> Outcome {
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
async fn in_the_mode_manual_a_sweep_deletes() -> Outcome {
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
async fn in_the_mode_aws_an_item_stays_for_a_while_and_then_goes() -> Outcome {
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
async fn explain_says_why_an_item_is_still_there_and_why_it_is_not() -> Outcome {
    let world = carts().await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    let key = Key::from(json!({"id": {"S": "1"}}));
    let explanation = world.ttl("carts").explain(key).await?;
    assert_eq!(explanation.reason, "not_due");
    assert_eq!(explanation.expires_at, Some(new_2031() + HOUR + MILLISECOND));
    assert!(explanation.message.contains(&seconds(new_2031() + HOUR).to_string()), "{}", explanation.message);
    world.clock.advance(2 * HOUR).await?;
    assert_eq!(world.explain("carts", ("id", "1")).await?.reason, "expired");

    // What a program writes that goes by its own clock.
    put_cart(&world, "2", SystemTime::now() + HOUR).await?;
    assert_eq!(world.explain("carts", ("id", "2")).await?.reason, "born_expired");
    assert_eq!(world.ttl("carts").status().await?.born_expired, 1);
    Ok(())
}
