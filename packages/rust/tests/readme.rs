//! The examples of README.md, run as tests. The last test checks that README.md has the same text.

mod shop {
    use std::collections::HashMap;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use aws_sdk_dynamodb::types::AttributeValue;

    /// Stores shopping carts that expire after two days. It gets its client and the time from the caller.
    pub struct Carts(pub aws_sdk_dynamodb::Client);

    impl Carts {
        pub async fn put(&self, id: &str, now: SystemTime) -> Result<(), aws_sdk_dynamodb::Error> {
            let ttl = now.duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(48 * 3600);
            let item = HashMap::from([
                ("id".to_owned(), AttributeValue::S(id.to_owned())),
                ("ttl".to_owned(), AttributeValue::N(ttl.as_secs().to_string())),
            ]);
            self.0.put_item().table_name("carts").set_item(Some(item)).send().await?;
            Ok(())
        }
    }
}

mod cart {
    use super::shop;

    use mayfly::{By, Event, Table};
    use shop::Carts;
    use std::{error::Error, time::Duration};

    #[tokio::test]
    async fn a_cart_expires_after_two_days() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let began = world.clock.freeze().await?;
        world.create_table(Table::new("carts").ttl("ttl")).await?;

        let carts = Carts(world.dynamodb());
        carts.put("1", world.clock.now().await?).await?;
        let advanced = world.clock.advance(Duration::from_secs(48 * 3600 + 1)).await?;

        assert_eq!(advanced.tables["carts"], 1);
        let record =
            world.wait_for("carts", ("id", "1")).event(Event::Remove).by(By::Service).since(began).await?;
        assert_eq!(record.old_image.s("id"), Some("1"));
        Ok(())
    }
}

mod table {
    use mayfly::{Error, Index, KeyAttribute, Projection, Stream, Table};

    #[tokio::test]
    async fn a_table_can_have_indexes() -> Result<(), Error> {
        let world = mayfly::world().await?;
        let by_state = Index::new("by_state")
            .key("state")
            .sort(KeyAttribute::n("at"))
            .projection(Projection::Include(vec!["total".into()]));
        let orders = Table::new("orders")
            .key("customer") // default: id, a string
            .sort(KeyAttribute::n("at")) // default: no sort key
            .ttl("expires") // default: no TTL
            .stream(Stream::Off) // default: on, with new and old images
            .index(by_state)
            .index(Index::new("by_total").local().sort(KeyAttribute::n("total")))
            .with("DeletionProtectionEnabled", true); // any other member of CreateTable
        let description = world.create_table(orders).await?;
        assert_eq!(description["LocalSecondaryIndexes"][0]["IndexName"], "by_total");
        Ok(())
    }
}

mod function {
    use super::shop;

    use mayfly::{By, StreamEvent, Table};
    use shop::Carts;
    use std::{error::Error, time::Duration};

    #[tokio::test]
    async fn an_expired_cart_sends_a_reminder() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let now = world.clock.freeze().await?;
        world.create_table(Table::new("carts").ttl("ttl")).await?;

        let (remind, mut reminded) = tokio::sync::mpsc::unbounded_channel();
        let reminder = move |event: StreamEvent| {
            let mut expired = event.records.iter().filter(|record| record.by == By::Service);
            let sent =
                expired.try_for_each(|record| remind.send(record.keys.s("id").unwrap_or("?").to_owned()));
            async move { sent }
        };
        world.function("reminder", reminder).await?;
        world.trigger("carts", "reminder").with("MaximumRetryAttempts", 2).await?;

        let carts = Carts(world.dynamodb());
        carts.put("1", now).await?;
        world.clock.advance(Duration::from_secs(48 * 3600 + 1)).settle().await?;
        assert_eq!(reminded.recv().await.as_deref(), Some("1"));
        Ok(())
    }

    #[tokio::test]
    async fn a_batch_that_cannot_be_processed_is_given_up() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        world.create_table(Table::new("carts")).await?;
        let broken = async |_: StreamEvent| Err::<(), _>("no stamps");
        world.function("reminder", broken).may_fail().await?; // without may_fail, settle returns an error
        world.trigger("carts", "reminder").with("MaximumRetryAttempts", 2).await?;

        let carts = Carts(world.dynamodb());
        carts.put("1", world.clock.now().await?).await?;
        let settled = world.settle().await?;
        assert_eq!((settled.given_up.len(), settled.given_up[0].attempts), (1, 3));
        Ok(())
    }
}

mod travel {
    use super::shop;

    use mayfly::{Fault, FaultKind, Key, Table, serde_json::Value};
    use shop::Carts;
    use std::error::Error;
    use std::time::{Duration, UNIX_EPOCH};

    #[tokio::test]
    async fn time_travel_faults_and_failpoints() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let new_2031 = UNIX_EPOCH + Duration::from_secs(1_924_992_000);
        world.clock.freeze_at(new_2031).await?; // any year, as long as there are no tables
        world.create_table(Table::new("carts").ttl("ttl")).await?;
        let carts = Carts(world.dynamodb());
        carts.put("1", new_2031).await?;
        let key = Key::default().s("id", "1"); // or ("id", "1"), DynamoDB JSON or attribute values

        println!("{}", world.explain("carts", key.clone()).await?.message); // why the item exists or does not exist
        let snapshot = world.snapshot().await?; // tables, items, streams and clock
        world.clock.advance_to_next_expiry().await?;
        world.restore(&snapshot).await?;

        // Deletes late, as AWS does. With manual(), only sweep() deletes expired items.
        world.ttl("carts").aws(Duration::from_secs(600), Duration::from_secs(1680), 1).await?;
        world.faults([Fault::new(FaultKind::Throttle).operation("PutItem").count(2)]).await?;
        world.clear_faults().await?;

        let point = world.failpoint("carts", key).await?; // stops the expiry just before the deletion
        let clock = world.clock.clone();
        let advance = tokio::spawn(async move { clock.advance(Duration::from_secs(72 * 3600)).await });
        point.reached().await?;
        carts.put("1", world.clock.now().await?).await?;
        point.release().await?;
        advance.await??;

        world.control("GET", "/jobs", Value::Null).await?; // any other call to the control API
        Ok(())
    }
}

/// Compares the blocks of README.md that rustdoc ignores with the modules above, without indentation. Rustdoc runs the
/// other blocks.
#[test]
fn every_example_in_the_readme_is_run_as_a_test() {
    let plain = |text: &str| text.lines().map(|line| line.trim_start().to_owned() + "\n").collect::<String>();
    let tests = plain(include_str!("readme.rs"));
    let blocks = include_str!("../README.md").split("```rust,ignore\n").skip(1);
    let blocks: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        assert!(tests.contains(&plain(block)), "no module contains\n{block}");
    }
}
