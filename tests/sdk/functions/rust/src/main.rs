//! The handler of runtimes_test.py, with Lambda's own client for Rust.

use std::{env, fs::OpenOptions, io::Write, process, time::SystemTime};

use aws_lambda_events::event::dynamodb::EventRecord;
use lambda_runtime::{run, service_fn, Diagnostic, Error, LambdaEvent};
use serde::Deserialize;
use serde_dynamo::AttributeValue;
use serde_json::{json, Value};

#[derive(Debug)]
struct ValueError(String);

impl From<ValueError> for Diagnostic {
    fn from(error: ValueError) -> Self {
        Diagnostic { error_type: "ValueError".into(), error_message: error.0 }
    }
}

#[derive(Deserialize)]
struct Request {
    #[serde(rename = "Records", default)]
    records: Vec<EventRecord>,
    fail: Option<String>,
    exit: Option<i32>,
    echo: Option<Value>,
}

async fn handle(event: LambdaEvent<Request>) -> Result<Value, ValueError> {
    let (request, context) = event.into_parts();
    if !request.records.is_empty() {
        remember(&request.records).map_err(|error| ValueError(error.to_string()))?;
        return Ok(Value::Null);
    }
    if let Some(message) = request.fail {
        return Err(ValueError(message));
    }
    if let Some(status) = request.exit {
        process::exit(status);
    }
    let left = context.deadline().duration_since(SystemTime::now()).unwrap_or_default();
    Ok(json!({"echo": request.echo, "arn": context.invoked_function_arn, "left": left.as_millis() as u64}))
}

fn remember(records: &[EventRecord]) -> Result<(), Error> {
    let mut ids = String::new();
    for record in records {
        if let AttributeValue::S(id) = &record.change.keys["id"] {
            ids += id;
            ids += "\n";
        }
    }
    let mut seen = OpenOptions::new().append(true).open(env::var("SEEN")?)?;
    Ok(seen.write_all(ids.as_bytes())?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(handle)).await
}
