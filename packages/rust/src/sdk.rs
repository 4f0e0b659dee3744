// Clients of the AWS SDK for a world, and conversions of the SDK's attribute values.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::{Blob, base64};
use aws_types::SdkConfig;
use aws_types::region::Region;
use serde_json::{Map, Value, json};

use crate::server::Shared;
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
        let http = EndNoticing {
            inner: aws_smithy_http_client::Builder::new().build_http(),
            server: account.server.clone(),
        };
        let config = SdkConfig::builder()
            .behavior_version(aws_sdk_dynamodb::config::BehaviorVersion::latest())
            .endpoint_url(&account.server.url)
            .region(Region::new(account.server.region.clone()))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .http_client(http)
            .build();
        let dynamodb = aws_sdk_dynamodb::Client::new(&config);
        let streams = aws_sdk_dynamodbstreams::Client::new(&config);
        Clients { config, dynamodb, streams }
    }
}

// An HTTP client that returns `Error::Ended` for calls that fail because the server has ended. The SDK does not retry that
// error.
#[derive(Clone)]
struct EndNoticing<C> {
    inner: C,
    server: Arc<Shared>,
}

impl<C> fmt::Debug for EndNoticing<C> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("EndNoticing")
    }
}

impl<C: HttpClient> HttpClient for EndNoticing<C> {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        let inner = self.inner.http_connector(settings, components);
        SharedHttpConnector::new(EndNoticing { inner, server: self.server.clone() })
    }
}

impl HttpConnector for EndNoticing<SharedHttpConnector> {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let EndNoticing { inner, server } = self.clone();
        HttpConnectorFuture::new(async move {
            match inner.call(request).await {
                Ok(answer) => Ok(answer),
                Err(failure) => Err(match server.ended().await {
                    Some(ended) => ConnectorError::other(Box::new(ended), None),
                    None => failure,
                }),
            }
        })
    }
}

impl World {
    /// Returns a client for DynamoDB. The client has the SDK's default settings, so it retries failed calls. If the
    /// server has ended, errors have [`Error::Ended`](crate::Error::Ended) as a source.
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        self.clients.dynamodb.clone()
    }

    /// Returns a client for DynamoDB Streams.
    pub fn streams(&self) -> aws_sdk_dynamodbstreams::Client {
        self.clients.streams.clone()
    }

    /// Returns a configuration for other AWS SDK clients, for example for Lambda. It sets the endpoint, region and
    /// credentials, and ignores the user's AWS configuration. It supports only plain HTTP.
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
    /// Returns the attributes as the AWS SDK's attribute values.
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
        // A later version of the SDK added this type. The server refuses the value with an error that names the type.
        other => json!({format!("{other:?}"): null}),
    }
}

fn to_json_map(map: &HashMap<String, AttributeValue>) -> Value {
    Value::Object(map.iter().map(|(name, value)| (name.clone(), to_json(value))).collect())
}

fn from_json_map(map: &Map<String, Value>) -> HashMap<String, AttributeValue> {
    map.iter().filter_map(|(name, value)| Some((name.clone(), from_json(value)?))).collect()
}

// Returns the attribute value that the JSON describes, or None if the JSON is not an attribute value.
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
    fn attribute_values_of_every_type_convert_to_json_and_back() {
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
