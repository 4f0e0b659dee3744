//! The examples of README.md. The last test sees to it that they are these.

mod shop {
    use std::collections::HashMap;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use aws_sdk_dynamodb::types::{
        AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
        StreamSpecification, StreamViewType, TimeToLiveSpecification,
    };

    /// A program that takes its client, and is told the time.
    pub struct Carts(pub aws_sdk_dynamodb::Client);

    impl Carts {
        pub async fn create(&self) -> Result<(), aws_sdk_dynamodb::Error> {
            let id =
                AttributeDefinition::builder().attribute_name("id").attribute_type(ScalarAttributeType::S);
            let key = KeySchemaElement::builder().attribute_name("id").key_type(KeyType::Hash);
            let stream = StreamSpecification::builder().stream_enabled(true);
            self.0
                .create_table()
                .table_name("carts")
                .billing_mode(BillingMode::PayPerRequest)
                .attribute_definitions(id.build()?)
                .key_schema(key.build()?)
                .stream_specification(stream.stream_view_type(StreamViewType::NewAndOldImages).build()?)
                .send()
                .await?;
            let ttl = TimeToLiveSpecification::builder().enabled(true).attribute_name("ttl").build()?;
            self.0.update_time_to_live().table_name("carts").time_to_live_specification(ttl).send().await?;
            Ok(())
        }

        /// A cart lives for two days.
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

    use mayfly::{By, Event};
    use shop::Carts;
    use std::{error::Error, time::Duration};

    #[tokio::test]
    async fn a_cart_is_gone_after_two_days() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let began = world.clock.freeze().await?;
        let carts = Carts(world.dynamodb());

        carts.create().await?;
        carts.put("1", world.clock.now().await?).await?;
        let advanced = world.clock.advance(Duration::from_secs(48 * 3600 + 1)).await?;

        assert_eq!(advanced.tables["carts"], 1);
        let record =
            world.wait_for("carts", ("id", "1")).event(Event::Remove).by(By::Service).since(began).await?;
        assert_eq!(record.old_image.s("id"), Some("1"));
        Ok(())
    }
}

mod function {
    use super::shop;

    use mayfly::{By, StreamEvent};
    use shop::Carts;
    use std::{error::Error, time::Duration};

    #[tokio::test]
    async fn who_forgets_a_cart_is_reminded() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let now = world.clock.freeze().await?;
        let carts = Carts(world.dynamodb());
        carts.create().await?;

        let (remind, mut reminded) = tokio::sync::mpsc::unbounded_channel();
        let reminder = move |event: StreamEvent| {
            let mut expired = event.records.iter().filter(|record| record.by == By::Service);
            let sent =
                expired.try_for_each(|record| remind.send(record.keys.s("id").unwrap_or("?").to_owned()));
            async move { sent }
        };
        world.function("reminder", reminder).await?;
        world.trigger("carts", "reminder").with("MaximumRetryAttempts", 2).await?;

        carts.put("1", now).await?;
        world.clock.advance(Duration::from_secs(48 * 3600 + 1)).settle().await?;
        assert_eq!(reminded.recv().await.as_deref(), Some("1"));
        Ok(())
    }
}

mod travel {
    use super::shop;

    use mayfly::{Fault, FaultKind, Key, serde_json::Value};
    use shop::Carts;
    use std::error::Error;
    use std::time::{Duration, UNIX_EPOCH};

    #[tokio::test]
    async fn what_else_a_world_can_do() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let new_2031 = UNIX_EPOCH + Duration::from_secs(1_924_992_000);
        world.clock.freeze_at(new_2031).await?; // while there are no tables: any year
        let carts = Carts(world.dynamodb());
        carts.create().await?;
        carts.put("1", new_2031).await?;
        let key = Key::default().s("id", "1"); // or ("id", "1"), DynamoDB's JSON, attribute values

        println!("{}", world.explain("carts", key.clone()).await?.message); // why it is still there, or is not
        let snapshot = world.snapshot().await?; // tables, items, streams and clock
        world.clock.advance_to_next_expiry().await?;
        world.restore(&snapshot).await?;

        // Late, as on AWS; or manual(), and sweep().
        world.ttl("carts").aws(Duration::from_secs(600), Duration::from_secs(1680), 1).await?;
        world.faults([Fault::new(FaultKind::Throttle).operation("PutItem").count(2)]).await?;
        world.clear_faults().await?;

        let point = world.failpoint("carts", key).await?; // stops the expiry, so that a test can write in between
        let clock = world.clock.clone();
        let advance = tokio::spawn(async move { clock.advance(Duration::from_secs(72 * 3600)).await });
        point.reached().await?;
        carts.put("1", world.clock.now().await?).await?;
        point.release().await?;
        advance.await??;

        world.control("GET", "/jobs", Value::Null).await?; // and any other call of the control API
        Ok(())
    }
}

/// Each block in README.md that rustdoc is told to leave out stands above, but for its indentation. Rustdoc runs the others.
#[test]
fn every_example_of_the_readme_is_a_test_that_runs() {
    let plain = |text: &str| text.lines().map(|line| line.trim_start().to_owned() + "\n").collect::<String>();
    let tests = plain(include_str!("readme.rs"));
    let blocks = include_str!("../README.md").split("```rust,ignore\n").skip(1);
    let blocks: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        assert!(tests.contains(&plain(block)), "no test has\n{block}");
    }
}
