use std::process::Command;

use aws_sdk_dynamodbstreams::types::{OperationType, ShardIteratorType};
use mayfly::{By, Event, Server};

use crate::{HOUR, Outcome, carts, carts_table, new_2031, put_cart, tables};

#[tokio::test]
async fn worlds_are_isolated_accounts_with_twelve_digit_ids() -> Outcome {
    let (one, other) = (carts().await?, mayfly::world().await?);
    for world in [&one, &other] {
        let account = world.account();
        assert!(account.len() == 12 && account.bytes().all(|it| it.is_ascii_digit()), "{account}");
        assert!(!account.starts_with('0'), "{account}");
    }
    assert_eq!(tables(&one).await?, ["carts"]);
    assert!(tables(&other).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_streams_client_reads_the_dynamodb_clients_writes() -> Outcome {
    let world = carts().await?;
    put_cart(&world, "1", new_2031() + HOUR).await?;
    let client = world.streams();
    let streams = client.list_streams().table_name("carts").send().await?.streams.unwrap();
    let stream = streams[0].stream_arn.clone().unwrap();
    let described = client.describe_stream().stream_arn(&stream).send().await?.stream_description.unwrap();
    let iterator = client
        .get_shard_iterator()
        .stream_arn(&stream)
        .set_shard_id(described.shards()[0].shard_id.clone())
        .shard_iterator_type(ShardIteratorType::TrimHorizon)
        .send()
        .await?;
    let read = client.get_records().set_shard_iterator(iterator.shard_iterator).send().await?;
    assert_eq!(read.records().len(), 1);
    assert_eq!(read.records()[0].event_name, Some(OperationType::Insert));
    Ok(())
}

#[tokio::test]
async fn clients_use_us_east_1_and_the_worlds_account() -> Outcome {
    let world = carts().await?;
    let described = world.dynamodb().describe_table().table_name("carts").send().await?.table.unwrap();
    let arn = format!("arn:aws:dynamodb:us-east-1:{}:table/carts", world.account());
    assert_eq!(described.table_arn, Some(arn));
    Ok(())
}

#[tokio::test]
async fn a_client_created_from_the_worlds_configuration_uses_the_world() -> Outcome {
    let world = carts().await?;
    let client = aws_sdk_dynamodb::Client::new(world.sdk_config());
    assert_eq!(client.list_tables().send().await?.table_names(), ["carts"]);
    Ok(())
}

#[tokio::test]
async fn a_child_process_uses_the_world_through_its_environment() -> Outcome {
    let world = carts().await?;
    let program = std::env::var_os("MAYFLY_BINARY").expect("MAYFLY_BINARY");
    let mut show = Command::new(program);
    show.args(["clock", "show"]).env_clear().envs(world.environment());
    show.envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root))); // sockets need it on Windows
    let shown = show.output()?;
    let shown = String::from_utf8(shown.stdout)?;
    assert!(shown.contains("2031-01-01T00:00:00Z"), "{shown}");

    let (url, account) = (world.url(), world.account());
    let wanted = [
        ("AWS_ENDPOINT_URL_DYNAMODB", url),
        ("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", url),
        ("AWS_ACCESS_KEY_ID", account),
        ("AWS_SECRET_ACCESS_KEY", "any"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("MAYFLY_URL", url),
        ("MAYFLY_ACCOUNT", account),
    ];
    assert_eq!(world.environment(), wanted.map(|(name, value)| (name, value.to_owned())));
    Ok(())
}

#[tokio::test]
async fn dropping_a_world_deletes_its_tables_and_functions() -> Outcome {
    let server = Server::start().await?;
    let world = server.world();
    world.create_table(carts_table()).await?;
    world.function_at("reminder", "http://127.0.0.1:9/").await?;
    let (client, clock) = (world.dynamodb(), world.clock.clone());
    clock.freeze_at(new_2031()).await?;
    let probe = server.world(); // the test uses only the environment of this world
    let account = world.account().to_owned();
    drop(world);
    assert!(client.list_tables().send().await?.table_names().is_empty());
    assert_ne!(clock.now().await?, new_2031());
    let program = std::env::var_os("MAYFLY_BINARY").expect("MAYFLY_BINARY");
    let mut list = Command::new(program);
    list.args(["function", "list", "--json"]).envs(probe.environment()).env("MAYFLY_ACCOUNT", account);
    let listed = String::from_utf8(list.output()?.stdout)?;
    assert!(listed.contains(r#""functions""#) && !listed.contains("reminder"), "{listed}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn many_tasks_can_use_a_world_concurrently() -> Outcome {
    let world = std::sync::Arc::new(carts().await?);
    let puts: Vec<_> = (0..20)
        .map(|number| {
            let world = world.clone();
            tokio::spawn(async move {
                put_cart(&world, &number.to_string(), new_2031() + HOUR)
                    .await
                    .map_err(|error| error.to_string())
            })
        })
        .collect();
    for put in puts {
        put.await??;
    }
    assert_eq!(world.ttl("carts").status().await?.pending, 20);
    let record = world.wait_for("carts", ("id", "7")).since(new_2031()).await?;
    assert_eq!((record.event, record.by), (Event::Insert, By::User));
    Ok(())
}
