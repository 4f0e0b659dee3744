//! Tests typical uses of DynamoDB with the AWS SDK for Rust.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, Get, GlobalSecondaryIndex, KeySchemaElement, KeyType,
    Projection, ProjectionType, PutRequest, ReturnValue, ReturnValuesOnConditionCheckFailure,
    ScalarAttributeType, StreamSpecification, StreamViewType, TimeToLiveSpecification, TransactGetItem,
    TransactWriteItem, Update, WriteRequest,
};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodbstreams::types::{AttributeValue as StreamValue, Record, ShardIteratorType};
use mayfly_rust_test::Mayfly;

type Item = HashMap<String, AttributeValue>;
type Failure = Box<dyn std::error::Error>;

fn s(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

fn n(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

fn cart(id: &str, price: i64) -> Item {
    Item::from([("id".into(), s(id)), ("customer".into(), s("nina")), ("price".into(), n(price))])
}

/// Creates the table carts with an index by customer and price. TTL and a stream are enabled.
async fn create_carts(client: &Client) -> Result<(), Failure> {
    let attribute =
        |name, kind| AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build();
    let key = |name, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
    client
        .create_table()
        .table_name("carts")
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute("id", ScalarAttributeType::S)?)
        .attribute_definitions(attribute("customer", ScalarAttributeType::S)?)
        .attribute_definitions(attribute("price", ScalarAttributeType::N)?)
        .key_schema(key("id", KeyType::Hash)?)
        .global_secondary_indexes(
            GlobalSecondaryIndex::builder()
                .index_name("by_customer")
                .key_schema(key("customer", KeyType::Hash)?)
                .key_schema(key("price", KeyType::Range)?)
                .projection(Projection::builder().projection_type(ProjectionType::All).build())
                .build()?,
        )
        .stream_specification(
            StreamSpecification::builder()
                .stream_enabled(true)
                .stream_view_type(StreamViewType::NewAndOldImages)
                .build()?,
        )
        .send()
        .await?;
    client
        .update_time_to_live()
        .table_name("carts")
        .time_to_live_specification(
            TimeToLiveSpecification::builder().enabled(true).attribute_name("ttl").build()?,
        )
        .send()
        .await?;
    Ok(())
}

async fn put(client: &Client, item: Item) -> Result<(), Failure> {
    client.put_item().table_name("carts").set_item(Some(item)).send().await?;
    Ok(())
}

async fn read(client: &Client, id: &str) -> Result<Option<Item>, Failure> {
    Ok(client.get_item().table_name("carts").key("id", s(id)).send().await?.item)
}

#[tokio::test]
async fn an_item_is_put_read_conditionally_updated_and_deleted() -> Result<(), Failure> {
    let mayfly = Mayfly::start();
    let client = mayfly.dynamodb();
    create_carts(&client).await?;
    put(&client, cart("1", 19)).await?;
    assert_eq!(read(&client, "1").await?, Some(cart("1", 19)));

    let update = client
        .update_item()
        .table_name("carts")
        .key("id", s("1"))
        .update_expression("ADD price :more, products :product")
        .condition_expression("price < :limit")
        .expression_attribute_values(":more", n("80.5"))
        .expression_attribute_values(":product", AttributeValue::Ss(vec!["metronome".into()]))
        .expression_attribute_values(":limit", n(99))
        .return_values(ReturnValue::UpdatedNew)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    let updated = update.clone().send().await?.attributes.unwrap();
    assert_eq!(updated["price"], n("99.5"));
    assert_eq!(updated["products"], AttributeValue::Ss(vec!["metronome".into()]));

    let error = update.send().await.unwrap_err().into_service_error();
    assert!(error.is_conditional_check_failed_exception(), "{error:?}");
    assert_eq!(error.meta().message(), Some("The conditional request failed"));

    client.delete_item().table_name("carts").key("id", s("1")).send().await?;
    assert_eq!(read(&client, "1").await?, None);
    Ok(())
}

#[tokio::test]
async fn an_index_is_queried_page_by_page() -> Result<(), Failure> {
    let mayfly = Mayfly::start();
    let client = mayfly.dynamodb();
    create_carts(&client).await?;
    let mut writes = Vec::new();
    for number in 0..20 {
        let put = PutRequest::builder().set_item(Some(cart(&number.to_string(), -number))).build()?;
        writes.push(WriteRequest::builder().put_request(put).build());
    }
    let written = client.batch_write_item().request_items("carts", writes).send().await?;
    assert_eq!(written.unprocessed_items, Some(HashMap::new()));

    let items = client
        .query()
        .table_name("carts")
        .index_name("by_customer")
        .key_condition_expression("customer = :customer AND price BETWEEN :least AND :most")
        .expression_attribute_values(":customer", s("nina"))
        .expression_attribute_values(":least", n(-9))
        .expression_attribute_values(":most", n(-5))
        .limit(2)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await?;
    let expected: Vec<Item> = [9, 8, 7, 6, 5].map(|number| cart(&number.to_string(), -number)).into();
    assert_eq!(items, expected);
    Ok(())
}

#[tokio::test]
async fn a_transaction_is_applied_completely_or_canceled_with_reasons() -> Result<(), Failure> {
    let mayfly = Mayfly::start();
    let client = mayfly.dynamodb();
    create_carts(&client).await?;
    put(&client, cart("full", 10)).await?;
    put(&client, cart("empty", 0)).await?;

    // Moves ten from the price of one cart to the price of another if the first price is at least ten.
    let take = Update::builder()
        .table_name("carts")
        .key("id", s("full"))
        .update_expression("SET price = price - :ten")
        .condition_expression("price >= :ten")
        .expression_attribute_values(":ten", n(10))
        .build()?;
    let give = Update::builder()
        .table_name("carts")
        .key("id", s("empty"))
        .update_expression("SET price = price + :ten")
        .expression_attribute_values(":ten", n(10))
        .build()?;
    let move_ten = client
        .transact_write_items()
        .transact_items(TransactWriteItem::builder().update(take).build())
        .transact_items(TransactWriteItem::builder().update(give).build());
    move_ten.clone().send().await?;
    let error = move_ten.send().await.unwrap_err().into_service_error();
    assert!(error.is_transaction_canceled_exception(), "{error:?}");
    assert_eq!(
        error.meta().message(),
        Some(
            "Transaction cancelled, please refer cancellation reasons for specific reasons \
             [ConditionalCheckFailed, None]"
        )
    );

    let get = |id| Get::builder().table_name("carts").key("id", s(id)).build();
    let both = client
        .transact_get_items()
        .transact_items(TransactGetItem::builder().get(get("full")?).build())
        .transact_items(TransactGetItem::builder().get(get("empty")?).build())
        .send()
        .await?;
    let items: Vec<_> = both.responses().iter().map(|response| response.item().unwrap()).collect();
    assert_eq!(items, [&cart("full", 0), &cart("empty", 10)]);
    Ok(())
}

#[tokio::test]
async fn an_expiry_removes_an_item_and_index_entry_and_its_record_names_the_service() -> Result<(), Failure> {
    let mayfly = Mayfly::start();
    let client = mayfly.dynamodb();
    create_carts(&client).await?;
    let ttl = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() + 3600;
    for (id, ttl) in [("goes", ttl), ("stays", ttl + 24 * 3600), ("ordered", ttl)] {
        let mut item = cart(id, 10);
        item.insert("ttl".into(), n(ttl));
        put(&client, item).await?;
    }
    client.delete_item().table_name("carts").key("id", s("ordered")).send().await?;

    mayfly.advance("2h");
    let records = read_stream(&mayfly).await?;
    let events: Vec<String> = records
        .iter()
        .map(|record| {
            let StreamValue::S(id) = &record.dynamodb().unwrap().keys().unwrap()["id"] else {
                panic!("{record:?}")
            };
            format!("{} {id}", record.event_name().unwrap().as_str())
        })
        .collect();
    assert_eq!(events, ["INSERT goes", "INSERT stays", "INSERT ordered", "REMOVE ordered", "REMOVE goes"]);
    assert_eq!(records[3].user_identity(), None);
    let identity = records[4].user_identity().expect("the service's identity");
    assert_eq!(
        (identity.r#type(), identity.principal_id()),
        (Some("Service"), Some("dynamodb.amazonaws.com"))
    );
    let old = records[4].dynamodb().unwrap().old_image().unwrap();
    assert_eq!(old["ttl"], StreamValue::N(ttl.to_string()));

    for index in [None, Some("by_customer".to_string())] {
        let left = client.scan().table_name("carts").set_index_name(index).send().await?;
        assert_eq!(left.items().iter().map(|item| &item["id"]).collect::<Vec<_>>(), [&s("stays")]);
    }
    Ok(())
}

/// Reads the stream of carts from its beginning.
async fn read_stream(mayfly: &Mayfly) -> Result<Vec<Record>, Failure> {
    let client = mayfly.streams();
    let streams = client.list_streams().table_name("carts").send().await?;
    let arn = streams.streams()[0].stream_arn().unwrap();
    let stream = client.describe_stream().stream_arn(arn).send().await?.stream_description.unwrap();
    let iterator = client
        .get_shard_iterator()
        .stream_arn(arn)
        .shard_id(stream.shards()[0].shard_id().unwrap())
        .shard_iterator_type(ShardIteratorType::TrimHorizon)
        .send()
        .await?
        .shard_iterator;
    Ok(client.get_records().set_shard_iterator(iterator).send().await?.records.unwrap_or_default())
}
