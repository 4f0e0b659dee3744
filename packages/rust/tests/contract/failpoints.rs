use std::time::Duration;

use mayfly::Error;

use crate::{HOUR, Outcome, carts, has_cart, new_2031, put_cart};

#[tokio::test]
async fn an_item_renewed_at_a_failpoint_survives() -> Outcome {
    let world = carts().await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    let point = world.failpoint("carts", ("id", "1")).await?;
    let clock = world.clock.clone();
    let advance = tokio::spawn(async move { clock.advance(2 * HOUR).await });
    point.reached().await?;
    put_cart(&world, "1", new_2031() + 5 * HOUR).await?;
    point.release().await?;
    advance.await??;
    assert!(has_cart(&world, "1").await?);
    assert_eq!(world.clock.now().await?, new_2031() + 2 * HOUR);
    Ok(())
}

#[tokio::test]
async fn reached_waits_for_the_expiry_and_returns_an_error_if_the_failpoint_is_released() -> Outcome {
    let world = carts().await?;
    let point = world.failpoint("carts", ("id", "1")).await?;
    let reached = tokio::time::timeout(Duration::from_millis(10), point.reached()).await;
    assert!(reached.is_err(), "no expiry has reached the failpoint");
    world.release_all().await?;
    let Err(Error::Refused(refusal)) = point.reached().await else { panic!("reached() succeeded") };
    assert_eq!(refusal.message, "the failpoint in table carts was released");
    Ok(())
}
