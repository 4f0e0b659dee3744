use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The key of an item. It is created from one of these:
///
/// - a name and a string: `("id", "1")`
/// - [`Key::default`] and its methods
/// - DynamoDB JSON
/// - a map of the AWS SDK's attribute values (with the feature `aws-sdk`)
///
/// ```
/// use mayfly::Key;
/// use serde_json::json;
///
/// let key = Key::default().s("artist", "Nina").n("year", 1965);
/// assert_eq!(key, Key::from(json!({"artist": {"S": "Nina"}, "year": {"N": "1965"}})));
/// assert_eq!(Key::from(("id", "1")), Key::default().s("id", "1"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Key(pub(crate) Value);

impl Default for Key {
    fn default() -> Self {
        Key(json!({}))
    }
}

impl Key {
    /// Adds a string attribute.
    pub fn s(mut self, name: &str, value: impl Into<String>) -> Key {
        self.0[name] = json!({"S": value.into()});
        self
    }

    /// Adds a number attribute.
    pub fn n(mut self, name: &str, value: impl ToString) -> Key {
        self.0[name] = json!({"N": value.to_string()});
        self
    }
}

impl From<(&str, &str)> for Key {
    fn from((name, value): (&str, &str)) -> Key {
        Key::default().s(name, value)
    }
}

/// Takes DynamoDB JSON: `{"id": {"S": "1"}}`. A value that is not an object becomes an empty key. The server refuses a key
/// that does not match the table.
impl From<Value> for Key {
    fn from(value: Value) -> Key {
        Key(if value.is_object() { value } else { json!({}) })
    }
}

/// An item, or some of its attributes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(transparent)]
pub struct Item(pub(crate) Map<String, Value>);

impl Item {
    /// Returns whether the item has no attributes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the attribute `name` if it is a string, else None.
    pub fn s(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.get("S")?.as_str()
    }

    /// Returns the attribute `name` if it is a number, else None. The number is returned as text, because it can
    /// have 38 digits.
    pub fn n(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.get("N")?.as_str()
    }

    /// Returns the item as DynamoDB JSON: `{"id": {"S": "1"}}`.
    pub fn json(&self) -> &Map<String, Value> {
        &self.0
    }
}
