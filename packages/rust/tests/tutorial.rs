//! The examples of docs/tutorial/rust.md, run as tests. The last test checks that the page has the same text.

mod shop {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use aws_sdk_dynamodb::types::AttributeValue;
    use aws_sdk_dynamodb::{Client, Error};

    const LIFETIME: Duration = Duration::from_secs(30 * 60);

    /// Sessions that end 30 minutes after their last use. The client and the time come from the caller.
    pub struct Sessions(pub Client);

    impl Sessions {
        /// Begins a session with these things in its cart.
        pub async fn start(&self, id: &str, cart: &[&str], now: SystemTime) -> Result<(), Error> {
            let things = cart.iter().map(|thing| AttributeValue::S(thing.to_string())).collect();
            self.0
                .put_item()
                .table_name("sessions")
                .item("id", AttributeValue::S(id.to_owned()))
                .item("cart", AttributeValue::L(things))
                .item("expires", seconds(now + LIFETIME))
                .send()
                .await?;
            Ok(())
        }

        /// Extends a session that has not ended.
        pub async fn renew(&self, id: &str, now: SystemTime) -> Result<(), Error> {
            self.0
                .update_item()
                .table_name("sessions")
                .key("id", AttributeValue::S(id.to_owned()))
                .update_expression("SET expires = :expires")
                .condition_expression("expires > :now")
                .expression_attribute_values(":expires", seconds(now + LIFETIME))
                .expression_attribute_values(":now", seconds(now))
                .send()
                .await?;
            Ok(())
        }

        /// Deletes a session.
        pub async fn end(&self, id: &str) -> Result<(), Error> {
            let key = AttributeValue::S(id.to_owned());
            self.0.delete_item().table_name("sessions").key("id", key).send().await?;
            Ok(())
        }

        /// Returns whether a session exists and has not ended.
        pub async fn is_open(&self, id: &str, now: SystemTime) -> Result<bool, Error> {
            let key = AttributeValue::S(id.to_owned());
            let found = self.0.get_item().table_name("sessions").key("id", key).send().await?;
            let Some(item) = found.item else { return Ok(false) };
            let expires: u64 = item["expires"].as_n().unwrap().parse().unwrap();
            Ok(UNIX_EPOCH + Duration::from_secs(expires) > now)
        }
    }

    fn seconds(time: SystemTime) -> AttributeValue {
        AttributeValue::N(time.duration_since(UNIX_EPOCH).unwrap().as_secs().to_string())
    }
}

mod expiry {
    use super::shop;

    use mayfly::{By, Event, Table};
    use shop::Sessions;
    use std::{error::Error, time::Duration};

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_session_ends_after_30_minutes() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let began = world.clock.freeze().await?;
        world.create_table(Table::new("sessions").ttl("expires")).await?;
        let sessions = Sessions(world.dynamodb());
        sessions.start("ann", &[], began).await?;

        let advanced = world.clock.advance(29 * MINUTE).await?;
        assert!(sessions.is_open("ann", advanced.now).await?);
        let advanced = world.clock.advance(2 * MINUTE).await?;
        assert_eq!(advanced.tables["sessions"], 1);
        assert!(!sessions.is_open("ann", advanced.now).await?);

        let removed = world.wait_for("sessions", ("id", "ann")).event(Event::Remove).since(began).await?;
        assert_eq!(removed.by, By::Service);
        assert_eq!(removed.old_image.s("id"), Some("ann"));
        Ok(())
    }

    #[tokio::test]
    async fn a_session_ends_even_if_it_is_not_deleted_yet() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let began = world.clock.freeze().await?;
        world.create_table(Table::new("sessions").ttl("expires")).await?;
        world.ttl("sessions").aws(10 * MINUTE, 28 * MINUTE, 1).await?;
        let sessions = Sessions(world.dynamodb());
        sessions.start("ann", &[], began).await?;

        let advanced = world.clock.advance(31 * MINUTE).await?;
        assert_eq!(world.explain("sessions", ("id", "ann")).await?.reason, "delayed");
        assert!(!sessions.is_open("ann", advanced.now).await?);
        Ok(())
    }
}

mod renewal {
    use super::shop;

    use mayfly::Table;
    use shop::Sessions;
    use std::{error::Error, time::Duration};

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_session_that_is_used_stays_open() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let began = world.clock.freeze().await?;
        world.create_table(Table::new("sessions").ttl("expires")).await?;
        let sessions = Sessions(world.dynamodb());
        sessions.start("ann", &[], began).await?;
        for _ in 0..3 {
            let advanced = world.clock.advance(20 * MINUTE).await?;
            sessions.renew("ann", advanced.now).await?;
        }

        let advanced = world.clock.advance(29 * MINUTE).await?;
        assert!(sessions.is_open("ann", advanced.now).await?);
        assert_eq!(world.clock.advance(2 * MINUTE).await?.tables["sessions"], 1);
        Ok(())
    }

    #[tokio::test]
    async fn a_session_that_has_ended_cannot_be_renewed() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let began = world.clock.freeze().await?;
        world.create_table(Table::new("sessions").ttl("expires")).await?;
        let sessions = Sessions(world.dynamodb());
        sessions.start("ann", &[], began).await?;

        let advanced = world.clock.advance(31 * MINUTE).await?;
        let renewed = sessions.renew("ann", advanced.now).await;
        assert!(matches!(renewed, Err(aws_sdk_dynamodb::Error::ConditionalCheckFailedException(_))));
        Ok(())
    }
}

mod carts {
    use super::shop;

    use mayfly::{By, Record, StreamEvent, Table, World};
    use shop::Sessions;
    use std::{error::Error, time::Duration};
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    const AFTER_EXPIRY: Duration = Duration::from_secs(31 * 60);

    /// Returns whether a session expired with something in its cart.
    fn is_abandoned(record: &Record) -> bool {
        let cart = record.old_image.json().get("cart").and_then(|cart| cart["L"].as_array());
        record.by == By::Service && cart.is_some_and(|things| !things.is_empty())
    }

    /// Registers the function, which sends a reminder for each abandoned cart. Returns the receiver of the reminders.
    async fn remind(world: &World) -> Result<UnboundedReceiver<String>, mayfly::Error> {
        let (send, reminded) = unbounded_channel();
        let reminder = move |event: StreamEvent| {
            let mut carts = event.records.iter().filter(|record| is_abandoned(record));
            let sent = carts.try_for_each(|cart| send.send(cart.keys.s("id").unwrap_or("?").to_owned()));
            async move { sent }
        };
        world.function("reminder", reminder).await?;
        world.trigger("sessions", "reminder").with("MaximumRetryAttempts", 2).await?;
        Ok(reminded)
    }

    #[tokio::test]
    async fn an_abandoned_cart_sends_a_reminder() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let began = world.clock.freeze().await?;
        world.create_table(Table::new("sessions").ttl("expires")).await?;
        let mut reminded = remind(&world).await?;
        let sessions = Sessions(world.dynamodb());
        sessions.start("ann", &["apples"], began).await?;
        sessions.start("bob", &[], began).await?;

        world.clock.advance(AFTER_EXPIRY).settle().await?;
        assert_eq!(reminded.try_recv().as_deref(), Ok("ann"));
        assert!(reminded.try_recv().is_err());
        Ok(())
    }

    #[tokio::test]
    async fn a_user_who_logs_out_gets_no_reminder() -> Result<(), Box<dyn Error>> {
        let world = mayfly::world().await?;
        let began = world.clock.freeze().await?;
        world.create_table(Table::new("sessions").ttl("expires")).await?;
        let mut reminded = remind(&world).await?;
        let sessions = Sessions(world.dynamodb());
        sessions.start("ann", &["apples"], began).await?;
        sessions.end("ann").await?;

        world.clock.advance(AFTER_EXPIRY).settle().await?;
        assert!(reminded.try_recv().is_err());
        Ok(())
    }
}

mod parallel {
    use super::shop;

    use mayfly::Table;
    use shop::Sessions;
    use std::{error::Error, time::Duration};

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[tokio::test]
    async fn worlds_share_neither_tables_nor_time() -> Result<(), Box<dyn Error>> {
        let (one, other) = (mayfly::world().await?, mayfly::world().await?);
        let (began, still) = (one.clock.freeze().await?, other.clock.freeze().await?);
        for world in [&one, &other] {
            world.create_table(Table::new("sessions").ttl("expires")).await?;
        }
        Sessions(one.dynamodb()).start("ann", &[], began).await?;
        Sessions(other.dynamodb()).start("ann", &[], still).await?;

        assert_eq!(one.clock.advance(DAY).await?.expired, 1);
        assert_eq!(other.clock.now().await?, still);
        assert!(Sessions(other.dynamodb()).is_open("ann", still).await?);
        Ok(())
    }
}

/// Each block in docs/tutorial/rust.md is one of the modules above, except for its indentation. The page is not part of
/// the crate, so `./package test` sets MAYFLY_TUTORIAL to the page's path.
#[test]
fn every_example_in_the_tutorial_is_run_as_a_test() {
    let Ok(page) = std::env::var("MAYFLY_TUTORIAL") else { return };
    let page = std::fs::read_to_string(page).unwrap();
    let plain = |text: &str| text.lines().map(|line| line.trim_start().to_owned() + "\n").collect::<String>();
    let tests = plain(include_str!("tutorial.rs"));
    let blocks: Vec<&str> =
        page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        assert!(tests.contains(&plain(block)), "no module contains\n{block}");
    }
}
