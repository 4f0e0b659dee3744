use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mayfly::Error;

use crate::{HOUR, MILLISECOND, Outcome, carts, carts_table, has_cart, new_2031, put_cart};

const MINUTE: Duration = Duration::from_secs(60);

fn apart(one: SystemTime, other: SystemTime) -> Duration {
    one.duration_since(other).unwrap_or_else(|error| error.duration())
}

#[tokio::test]
async fn a_frozen_clock_stands_still_until_it_is_moved() -> Outcome {
    let world = mayfly::world().await?;
    let began = world.clock.freeze().await?;
    assert!(apart(began, SystemTime::now()) < MINUTE, "a new world's clock shows the host's time");
    assert_eq!(world.clock.now().await?, began);
    world.clock.advance(90 * MINUTE).await?;
    assert_eq!(world.clock.now().await?, began + 90 * MINUTE);
    Ok(())
}

#[tokio::test]
async fn a_clock_can_move_back_only_while_its_world_has_no_tables() -> Outcome {
    let world = mayfly::world().await?;
    let leap_day = UNIX_EPOCH + Duration::from_millis(1_582_934_400_005);
    world.clock.freeze_at(leap_day).await?;
    assert_eq!(world.clock.now().await?, leap_day);
    world.create_table(carts_table()).await?;
    world.clock.set(new_2031()).await?;
    assert_eq!(world.clock.now().await?, new_2031());

    let Err(Error::Refused(refusal)) = world.clock.set(new_2031() - Duration::from_secs(1)).await else {
        panic!("the clock moved back");
    };
    assert_eq!((refusal.kind.as_str(), refusal.status), ("Conflict", 409));
    assert_eq!(
        refusal.message,
        "The clock cannot go back while the account has tables: 2030-12-31T23:59:59Z is before 2031-01-01T00:00:00Z. To go \
         back, reset the account or restore a snapshot."
    );
    Ok(())
}

#[tokio::test]
async fn a_clock_can_run_at_a_rate_and_return_to_the_hosts_time() -> Outcome {
    let world = mayfly::world().await?;
    let began = world.clock.freeze().await?;
    world.clock.rate(1_000_000.0).await?;
    let until = SystemTime::now() + Duration::from_secs(20);
    while world.clock.now().await? < began + HOUR {
        assert!(SystemTime::now() < until, "an hour of the world's clock has not passed in twenty seconds");
    }
    world.clock.real().await?;
    assert!(apart(world.clock.now().await?, SystemTime::now()) < MINUTE);
    Ok(())
}

#[tokio::test]
async fn an_advance_reports_expired_items_by_table() -> Outcome {
    let world = carts().await?;
    for (id, hours) in [("1", 1), ("2", 2), ("3", 72)] {
        put_cart(&world, id, new_2031() + hours * HOUR).await?;
    }
    let advanced = world.clock.advance(48 * HOUR).await?;
    assert_eq!(advanced.expired, 2);
    assert_eq!(advanced.tables, BTreeMap::from([("carts".to_owned(), 2)]));
    assert_eq!(advanced.next_expiry, Some(new_2031() + 72 * HOUR + MILLISECOND));
    assert!(!has_cart(&world, "2").await? && has_cart(&world, "3").await?);

    let advanced = world.clock.advance_to_next_expiry().await?;
    assert_eq!((advanced.expired, advanced.next_expiry), (1, None));
    assert_eq!(advanced.now, new_2031() + 72 * HOUR + MILLISECOND);
    let stayed = world.clock.advance_to_next_expiry().await?;
    assert_eq!(stayed.message.as_deref(), Some("No item is going to expire, so the clock did not move."));
    assert_eq!(world.clock.advance_to(new_2031() + 100 * HOUR).await?.now, new_2031() + 100 * HOUR);
    Ok(())
}

#[tokio::test]
async fn each_test_has_its_own_clock() -> Outcome {
    let (one, other) = (mayfly::world().await?, mayfly::world().await?);
    let began = other.clock.freeze().await?;
    one.clock.freeze().await?;
    one.clock.advance(1000 * HOUR).await?;
    assert_eq!(other.clock.now().await?, began);
    Ok(())
}

#[tokio::test]
async fn an_advance_ages_stream_records_only_if_age_streams_is_set() -> Outcome {
    let world = carts().await?;
    put_cart(&world, "1", new_2031() + 1000 * HOUR).await?;
    let record = || world.wait_for("carts", ("id", "1")).since(new_2031()).timeout(MILLISECOND);
    world.clock.advance(25 * HOUR).await?;
    record().await?;
    world.clock.advance(25 * HOUR).age_streams().await?;
    assert!(matches!(record().await, Err(Error::WaitTimedOut { .. })), "a 25-hour-old record still exists");
    Ok(())
}
