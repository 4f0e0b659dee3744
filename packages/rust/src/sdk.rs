// AWS's SDK: clients for a world, and its attribute values.

use std::collections::HashMap;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_types::{Blob, base64};
use aws_types::SdkConfig;
use aws_types::region::Region;
use serde_json::{Map, Value, json};

use crate::world::{Account, SECRET};
use crate::{Item, Key, World};

pub(crate) struct Clients {
    config: SdkConfig,
    dynamodb: aws_sdk_dynamodb::Client,
    streams: aws_sdk_dynamodbstreams::Client,
}

impl Clients {
    pub fn new(account: &Account) -> Clients {
        let credentials = Credentials::new(&account.number, SECRET, None, None, "mayfly");
        let config = SdkConfig::builder()
            .behavior_version(aws_sdk_dynamodb::config::BehaviorVersion::latest())
            .endpoint_url(&account.server.url)
            .region(Region::new(account.server.region.clone()))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .build();
        let dynamodb = aws_sdk_dynamodb::Client::new(&config);
        let streams = aws_sdk_dynamodbstreams::Client::new(&config);
        Clients { config, dynamodb, streams }
    }
}

impl World {
    /// A client of DynamoDB with AWS's defaults, which try again what fails. Clones are cheap.
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        self.clients.dynamodb.clone()
    }

    /// A client of DynamoDB Streams.
    pub fn streams(&self) -> aws_sdk_dynamodbstreams::Client {
        self.clients.streams.clone()
    }

    /// For further clients, and for programs that take it: the endpoint, region and credentials are set, and nothing of the
    /// user's AWS configuration is read. It speaks plain HTTP only.
    pub fn sdk_config(&self) -> &SdkConfig {
        &self.clients.config
    }
}

impl From<HashMap<String, AttributeValue>> for Key {
    fn from(key: HashMap<String, AttributeValue>) -> Key {
        Key(to_json_map(&key))
    }
}

impl Item {
    /// AWS's attribute values.
    pub fn attributes(&self) -> HashMap<String, AttributeValue> {
        from_json_map(&self.0)
    }
}

fn to_json(value: &AttributeValue) -> Value {
    let bytes = |blob: &Blob| base64::encode(blob);
    match value {
        AttributeValue::B(blob) => json!({"B": bytes(blob)}),
        AttributeValue::Bool(value) => json!({"BOOL": value}),
        AttributeValue::Bs(blobs) => json!({"BS": blobs.iter().map(bytes).collect::<Vec<_>>()}),
        AttributeValue::L(list) => json!({"L": list.iter().map(to_json).collect::<Vec<_>>()}),
        AttributeValue::M(map) => json!({"M": to_json_map(map)}),
        AttributeValue::N(number) => json!({"N": number}),
        AttributeValue::Ns(numbers) => json!({"NS": numbers}),
        AttributeValue::Null(value) => json!({"NULL": value}),
        AttributeValue::S(text) => json!({"S": text}),
        AttributeValue::Ss(texts) => json!({"SS": texts}),
        // A type that the SDK learns later: the server says that it does not know it.
        other => json!({format!("{other:?}"): null}),
    }
}

fn to_json_map(map: &HashMap<String, AttributeValue>) -> Value {
    Value::Object(map.iter().map(|(name, value)| (name.clone(), to_json(value))).collect())
}

fn from_json_map(map: &Map<String, Value>) -> HashMap<String, AttributeValue> {
    map.iter().filter_map(|(name, value)| Some((name.clone(), from_json(value)?))).collect()
}

// Nothing: it is no value of DynamoDB's.
fn from_json(value: &Value) -> Option<AttributeValue> {
    let (kind, value) = value.as_object()?.iter().next()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let blob = |value: &Value| Some(Blob::new(base64::decode(value.as_str()?).ok()?));
    fn all<T>(value: &Value, one: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
        value.as_array()?.iter().map(one).collect()
    }
    Some(match kind.as_str() {
        "B" => AttributeValue::B(blob(value)?),
        "BOOL" => AttributeValue::Bool(value.as_bool()?),
        "BS" => AttributeValue::Bs(all(value, blob)?),
        "L" => AttributeValue::L(all(value, from_json)?),
        "M" => AttributeValue::M(from_json_map(value.as_object()?)),
        "N" => AttributeValue::N(text(value)?),
        "NS" => AttributeValue::Ns(all(value, text)?),
        "NULL" => AttributeValue::Null(value.as_bool()?),
        "S" => AttributeValue::S(text(value)?),
        "SS" => AttributeValue::Ss(all(value, text)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{from_json_map, to_json_map};
    use serde_json::json;

    #[test]
    fn attribute_values_of_every_type_are_dynamodbs_json_and_back() {
        let item = json!({
            "b": {"B": "AAH/"}, "bool": {"BOOL": true}, "bs": {"BS": ["AAH/", ""]}, "l": {"L": [{"S": "1"}, {"L": []}]},
            "m": {"M": {"a": {"N": "-1e5"}}}, "n": {"N": "12345678901234567890123456789012345678"},
            "ns": {"NS": ["1", "2"]}, "null": {"NULL": true}, "s": {"S": "ä\"\n"}, "ss": {"SS": ["a", ""]}
        });
        let values = from_json_map(item.as_object().unwrap());
        assert_eq!(values.len(), 10);
        assert_eq!(to_json_map(&values), item);
    }
}
