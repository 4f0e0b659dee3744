//! What the crate promises, against a server. `MAYFLY_BINARY` names its program.

mod clock;
mod control;
mod failpoints;
mod faults;
mod functions;
mod killed;
mod snapshots;
mod start;
mod ttl;
mod wait;
mod world;

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
    StreamSpecification, StreamViewType, TimeToLiveSpecification,
};
use mayfly::World;

type Failure = Box<dyn std::error::Error>;
type Outcome = Result<(), Failure>;

const HOUR: Duration = Duration::from_secs(3600);
const MILLISECOND: Duration = Duration::from_millis(1);

/// 2031-01-01T00:00:00Z.
fn new_2031() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_924_992_000)
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A world whose clock stands at the beginning of 2031, with the table carts.
async fn carts() -> Result<World, Failure> {
    let world = mayfly::world().await?;
    world.clock.freeze_at(new_2031()).await?;
    create_carts(&world.dynamodb()).await?;
    Ok(world)
}

/// The table carts, key id, whose items expire by `ttl`, and which has a stream.
async fn create_carts(client: &Client) -> Outcome {
    let id =
        AttributeDefinition::builder().attribute_name("id").attribute_type(ScalarAttributeType::S).build()?;
    let stream = StreamSpecification::builder()
        .stream_enabled(true)
        .stream_view_type(StreamViewType::NewAndOldImages)
        .build()?;
    client
        .create_table()
        .table_name("carts")
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(id)
        .key_schema(KeySchemaElement::builder().attribute_name("id").key_type(KeyType::Hash).build()?)
        .stream_specification(stream)
        .send()
        .await?;
    let ttl = TimeToLiveSpecification::builder().enabled(true).attribute_name("ttl").build()?;
    client.update_time_to_live().table_name("carts").time_to_live_specification(ttl).send().await?;
    Ok(())
}

async fn put_cart(world: &World, id: &str, ttl: SystemTime) -> Outcome {
    let item = HashMap::from([
        ("id".to_owned(), AttributeValue::S(id.into())),
        ("ttl".to_owned(), AttributeValue::N(seconds(ttl).to_string())),
    ]);
    world.dynamodb().put_item().table_name("carts").set_item(Some(item)).send().await?;
    Ok(())
}

async fn has_cart(world: &World, id: &str) -> Result<bool, Failure> {
    let get = world.dynamodb().get_item().table_name("carts").key("id", AttributeValue::S(id.into()));
    Ok(get.send().await?.item.is_some())
}

async fn tables(world: &World) -> Result<Vec<String>, Failure> {
    Ok(world.dynamodb().list_tables().send().await?.table_names.unwrap_or_default())
}
