use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use mayfly::{By, Error, Event};

use crate::{HOUR, MILLISECOND, Outcome, carts, new_2031, put_cart, put_cart_with, seconds};

#[tokio::test]
async fn wait_for_returns_the_record_of_an_expired_item() -> Outcome {
    let world = carts().await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    world.clock.advance(2 * HOUR).await?;
    let key = HashMap::from([("id".to_owned(), AttributeValue::S("1".into()))]);
    let record =
        world.wait_for("carts", key.clone()).event(Event::Remove).by(By::Service).since(new_2031()).await?;
    assert_eq!((record.event, record.by), (Event::Remove, By::Service));
    assert_eq!(record.keys.attributes(), key);
    assert_eq!(record.old_image.n("ttl"), Some(seconds(new_2031() + HOUR).to_string().as_str()));
    assert!(record.new_image.is_empty());
    assert_eq!(record.raw["userIdentity"]["PrincipalId"], "dynamodb.amazonaws.com");
    Ok(())
}

#[tokio::test]
async fn wait_for_returns_when_another_client_changes_the_item() -> Outcome {
    let world = carts().await?;
    let waiting = tokio::spawn(world.wait_for("carts", ("id", "1")).by(By::User).into_future());
    // Puts items repeatedly, because the wait ends at the first put after its start. Each item is different, because
    // writing an equal item is not a change.
    for number in (1..).take_while(|_| !waiting.is_finished()) {
        put_cart(&world, "1", new_2031() + number * HOUR).await?;
    }
    waiting.await??;
    Ok(())
}

#[tokio::test]
async fn a_wait_that_times_out_lists_the_items_other_changes() -> Outcome {
    let world = carts().await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    let wait =
        world.wait_for("carts", ("id", "1")).event(Event::Remove).since(new_2031()).timeout(MILLISECOND);
    let error = wait.await.unwrap_err();
    let message = error.to_string();
    let begins = r#"Timed out after 0.001 s: only other changes to carts/{"id": "1"}. Its TTL is "#;
    assert!(message.starts_with(begins), "{message}");
    assert!(message.ends_with(" Other changes to the item: INSERT by user."), "{message}");
    let Error::WaitTimedOut { happened, refusal, .. } = error else { panic!("{error}") };
    assert_eq!(happened[0].event, Event::Insert);
    assert_eq!((refusal.kind.as_str(), refusal.status), ("TimedOut", 408));
    Ok(())
}

#[tokio::test]
async fn a_wait_that_times_out_says_that_the_ttl_can_never_fire() -> Outcome {
    let world = carts().await?;
    put_cart_with(&world, "1", AttributeValue::S("1924992000".into())).await?;
    let wait = world.wait_for("carts", ("id", "1")).event(Event::Remove).timeout(MILLISECOND);
    assert_eq!(
        wait.await.unwrap_err().to_string(),
        r#"Timed out after 0.001 s: no change to carts/{"id": "1"}. Its TTL is a string ("1924992000"), so it never expires; use a Number."#
    );
    Ok(())
}
