use mayfly::{Error, Index, KeyAttribute, Projection, Stream, Table};
use serde_json::{Value, json};

use crate::{Outcome, carts, carts_table, tables};

#[tokio::test]
async fn a_table_has_a_string_key_named_id_and_a_stream_by_default() -> Outcome {
    let world = mayfly::world().await?;
    let table = world.create_table(Table::new("carts")).await?;
    assert_eq!(table["TableName"], "carts");
    assert_eq!(table["KeySchema"], json!([{"AttributeName": "id", "KeyType": "HASH"}]));
    assert_eq!(table["AttributeDefinitions"], json!([{"AttributeName": "id", "AttributeType": "S"}]));
    assert_eq!(table["StreamSpecification"]["StreamViewType"], "NEW_AND_OLD_IMAGES");
    assert_eq!(table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST");
    assert_eq!(world.ttl("carts").status().await?.status, "DISABLED");
    Ok(())
}

fn names(indexes: &Value) -> Vec<&str> {
    let mut names: Vec<_> =
        indexes.as_array().unwrap().iter().map(|it| it["IndexName"].as_str().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_table_has_the_requested_keys_indexes_and_settings() -> Outcome {
    let world = mayfly::world().await?;
    let orders = Table::new("orders")
        .key("customer")
        .sort(KeyAttribute::n("at"))
        .ttl("expires")
        .stream(Stream::KeysOnly)
        .index(
            Index::new("by_state")
                .key("state")
                .sort(KeyAttribute::n("at"))
                .projection(Projection::Include(vec!["total".into()])),
        )
        .index(Index::new("by_parcel").key(KeyAttribute::b("parcel")).projection(Projection::KeysOnly))
        .index(Index::new("by_total").local().sort(KeyAttribute::n("total")))
        .with("DeletionProtectionEnabled", true);
    let table = world.create_table(orders).await?;
    let keys = json!([{"AttributeName": "customer", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}]);
    assert_eq!(table["KeySchema"], keys);
    assert_eq!(table["AttributeDefinitions"].as_array().map(Vec::len), Some(5));
    assert_eq!(table["StreamSpecification"]["StreamViewType"], "KEYS_ONLY");
    assert_eq!(table["DeletionProtectionEnabled"], true);
    assert_eq!(names(&table["GlobalSecondaryIndexes"]), ["by_parcel", "by_state"]);
    assert_eq!(names(&table["LocalSecondaryIndexes"]), ["by_total"]);
    assert_eq!(world.ttl("orders").status().await?.attribute.as_deref(), Some("expires"));
    Ok(())
}

#[tokio::test]
async fn a_table_can_have_no_stream() -> Outcome {
    let world = mayfly::world().await?;
    let table = world.create_table(Table::new("carts").stream(Stream::Off)).await?;
    assert!(table.get("LatestStreamArn").is_none(), "{table}");
    let error = world.trigger("carts", "reminder").await.unwrap_err();
    assert!(error.to_string().starts_with(r#"the table "carts" has no stream: "#), "{error}");
    Ok(())
}

#[tokio::test]
async fn an_invalid_table_is_rejected_before_any_request() -> Outcome {
    let world = mayfly::world().await?;
    let table = Table::new("carts").sort(KeyAttribute::n("at")).index(Index::new("by_at").key("at"));
    let error = world.create_table(table).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"cannot create the table "carts": the attribute "at" is used with two types, N and S: use one"#
    );
    assert!(tables(&world).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn create_table_returns_the_servers_error() -> Outcome {
    let world = carts().await?;
    let error = world.create_table(carts_table()).await.unwrap_err();
    assert!(matches!(&error, Error::Refused(refusal) if refusal.kind == "ResourceInUseException"), "{error}");
    Ok(())
}
