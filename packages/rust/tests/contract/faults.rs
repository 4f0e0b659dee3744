use std::time::Duration;

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::types::AttributeValue;
use mayfly::{Fault, FaultKind};

use crate::{Outcome, carts};

#[tokio::test]
async fn a_fault_with_a_count_makes_that_many_operations_fail_and_counts_them() -> Outcome {
    let world = carts().await?;
    let config = aws_sdk_dynamodb::config::Builder::from(world.sdk_config());
    let once = aws_sdk_dynamodb::Client::from_conf(config.retry_config(RetryConfig::disabled()).build());
    let rule = Fault::new(FaultKind::Throttle).operation("GetItem").table("carts").count(1);
    world.faults([rule.clone()]).await?;
    let get = once.get_item().table_name("carts").key("id", AttributeValue::S("1".into()));

    let error = get.clone().send().await.unwrap_err().into_service_error();
    assert!(error.is_provisioned_throughput_exceeded_exception(), "{error:?}");
    get.send().await?;
    let counts = world.fault_counts().await?;
    assert_eq!(counts.len(), 1);
    assert_eq!((&counts[0].fault, counts[0].struck), (&rule, 1));

    world.clear_faults().await?;
    assert!(world.fault_counts().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_server_accepts_every_member_of_a_fault_rule() -> Outcome {
    let world = carts().await?;
    let rules = [
        Fault::new(FaultKind::Throttle).exception("ThrottlingException").count(3),
        Fault::new(FaultKind::Latency).delay(Duration::from_millis(20)).probability(0.5, 7),
        Fault::new(FaultKind::Unprocessed).operation("BatchWriteItem").items(1),
        Fault::new(FaultKind::StaleReads)
            .table("carts")
            .writes(3)
            .delay(Duration::from_secs(1))
            .probability(0.5, 1),
        Fault::new(FaultKind::InternalServerError),
        Fault::new(FaultKind::TransactionConflict),
        Fault::new(FaultKind::ReplicatedWriteConflict),
    ];
    world.faults(rules.clone()).await?;
    let kept: Vec<Fault> = world.fault_counts().await?.into_iter().map(|count| count.fault).collect();
    assert_eq!(kept, rules);
    Ok(())
}
