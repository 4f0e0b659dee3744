//! A user's test. The package script runs it with the crates that it has built.

use mayfly::Table;
use std::time::Duration;

#[tokio::test]
async fn a_cart_expires_with_the_program_of_the_crate() -> Result<(), mayfly::Error> {
    let world = mayfly::world().await?;
    let began = world.clock.freeze().await?;
    world.create_table(Table::new("carts").ttl("ttl")).await?;
    let client = world.dynamodb();
    let ttl = began.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() + 60;
    let put = client.put_item().table_name("carts");
    let put = put.item("id", mayfly::aws_sdk_dynamodb::types::AttributeValue::S("1".into()));
    let put = put.item("ttl", mayfly::aws_sdk_dynamodb::types::AttributeValue::N(ttl.to_string()));
    put.send().await.unwrap();
    let advanced = world.clock.advance(Duration::from_secs(61)).await?;
    assert_eq!(advanced.tables["carts"], 1);
    Ok(())
}
