use mayfly::Error;

use crate::{HOUR, Outcome, carts, has_cart, new_2031, put_cart, tables};

#[tokio::test]
async fn a_snapshot_restores_the_worlds_items_and_clock() -> Outcome {
    let world = carts().await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    let snapshot = world.snapshot().await?;
    for _ in 0..2 {
        world.clock.advance(2 * HOUR).await?;
        assert!(!has_cart(&world, "1").await?);
        world.restore(&snapshot).await?;
        assert!(has_cart(&world, "1").await?);
        assert_eq!(world.clock.now().await?, new_2031());
    }
    assert_eq!(world.snapshots().await?, std::slice::from_ref(&snapshot));
    world.delete_snapshot(&snapshot).await?;
    assert!(matches!(world.restore(&snapshot).await, Err(Error::Refused(_))));
    Ok(())
}

#[tokio::test]
async fn a_reset_deletes_tables() -> Outcome {
    let world = carts().await?;
    world.reset().await?;
    assert!(tables(&world).await?.is_empty());
    Ok(())
}
