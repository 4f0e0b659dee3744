use serde_json::{Map, Value, json};

use crate::{Error, World};

/// Describes a table for [`World::create_table`]. Only the name is required:
///
/// ```
/// use mayfly::{Index, KeyAttribute, Projection, Stream, Table};
///
/// let carts = Table::new("carts").ttl("ttl");
/// let orders = Table::new("orders")
///     .key("customer") // default: id, a string
///     .sort(KeyAttribute::n("at")) // default: no sort key
///     .stream(Stream::Off) // default: on, with new and old images
///     .index(Index::new("by_state").key("state").projection(Projection::Include(vec!["total".into()])))
///     .index(Index::new("by_total").local().sort(KeyAttribute::n("total")))
///     .with("DeletionProtectionEnabled", true); // any other member of CreateTable
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    key: KeyAttribute,
    sort: Option<KeyAttribute>,
    ttl: Option<String>,
    stream: Stream,
    indexes: Vec<Index>,
    more: Map<String, Value>,
}

/// An attribute of a key. A name alone, as in `.key("id")`, stands for an attribute that holds a string.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyAttribute {
    name: String,
    kind: &'static str,
}

impl KeyAttribute {
    /// Returns an attribute that holds a string.
    pub fn s(name: impl Into<String>) -> KeyAttribute {
        KeyAttribute { name: name.into(), kind: "S" }
    }

    /// Returns an attribute that holds a number.
    pub fn n(name: impl Into<String>) -> KeyAttribute {
        KeyAttribute { name: name.into(), kind: "N" }
    }

    /// Returns an attribute that holds bytes.
    pub fn b(name: impl Into<String>) -> KeyAttribute {
        KeyAttribute { name: name.into(), kind: "B" }
    }
}

impl From<&str> for KeyAttribute {
    fn from(name: &str) -> KeyAttribute {
        KeyAttribute::s(name)
    }
}

/// Determines whether a table has a stream, and which images the stream's records contain.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Stream {
    /// Records contain the item before and after the change.
    #[default]
    NewAndOldImages,
    /// Records contain only the item after the change.
    NewImage,
    /// Records contain only the item before the change.
    OldImage,
    /// Records contain only the item's key.
    KeysOnly,
    /// The table has no stream.
    Off,
}

impl Stream {
    fn specification(self) -> Option<Value> {
        let view = match self {
            Stream::NewAndOldImages => "NEW_AND_OLD_IMAGES",
            Stream::NewImage => "NEW_IMAGE",
            Stream::OldImage => "OLD_IMAGE",
            Stream::KeysOnly => "KEYS_ONLY",
            Stream::Off => return None,
        };
        Some(json!({"StreamEnabled": true, "StreamViewType": view}))
    }
}

/// A secondary index. A global index needs [`Index::key`], its partition key. A local index has the table's partition key
/// and needs [`Index::sort`].
#[derive(Clone, Debug)]
pub struct Index {
    name: String,
    key: Option<KeyAttribute>,
    sort: Option<KeyAttribute>,
    projection: Projection,
    local: bool,
}

/// The attributes that an index contains.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Projection {
    /// All attributes.
    #[default]
    All,
    /// The keys of the table and the index.
    KeysOnly,
    /// The keys and these attributes.
    Include(Vec<String>),
}

impl Index {
    /// Creates a global index that contains all attributes. It needs [`Index::key`].
    pub fn new(name: impl Into<String>) -> Index {
        Index { name: name.into(), key: None, sort: None, projection: Projection::All, local: false }
    }

    /// Sets the partition key of a global index: the name of a string attribute, or a [`KeyAttribute`].
    pub fn key(mut self, key: impl Into<KeyAttribute>) -> Index {
        self.key = Some(key.into());
        self
    }

    /// Sets the sort key: the name of a string attribute, or a [`KeyAttribute`]. Default: none.
    pub fn sort(mut self, sort: impl Into<KeyAttribute>) -> Index {
        self.sort = Some(sort.into());
        self
    }

    /// Sets which attributes the index contains. Default: all.
    pub fn projection(mut self, projection: Projection) -> Index {
        self.projection = projection;
        self
    }

    /// Makes this a local index.
    pub fn local(mut self) -> Index {
        self.local = true;
        self
    }

    // Returns the index in the form that CreateTable expects, or an error message if the index is invalid.
    fn json(&self, partition: &KeyAttribute, attributes: &mut Attributes) -> Result<Value, String> {
        let name = &self.name;
        let key = match (self.local, &self.key, &self.sort) {
            (true, Some(key), _) if key != partition => {
                return Err(format!(
                    "the local index {name:?} must have the table's partition key: leave key() out"
                ));
            }
            (true, _, None) => return Err(format!("the local index {name:?} needs sort()")),
            (true, ..) => partition,
            (false, None, _) => return Err(format!("the global index {name:?} needs key()")),
            (false, Some(key), _) => key,
        };
        let projection = match &self.projection {
            Projection::All => json!({"ProjectionType": "ALL"}),
            Projection::KeysOnly => json!({"ProjectionType": "KEYS_ONLY"}),
            Projection::Include(names) => json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": names}),
        };
        let keys = attributes.schema(key, self.sort.as_ref())?;
        Ok(json!({"IndexName": name, "KeySchema": keys, "Projection": projection}))
    }
}

impl Table {
    /// Creates a description of a table with the partition key `id`, a string, and a stream with new and old images.
    pub fn new(name: impl Into<String>) -> Table {
        Table {
            name: name.into(),
            key: KeyAttribute::s("id"),
            sort: None,
            ttl: None,
            stream: Stream::default(),
            indexes: Vec::new(),
            more: Map::new(),
        }
    }

    /// Sets the partition key: the name of a string attribute, or a [`KeyAttribute`]. Default: `id`, a string.
    pub fn key(mut self, key: impl Into<KeyAttribute>) -> Table {
        self.key = key.into();
        self
    }

    /// Sets the sort key: the name of a string attribute, or a [`KeyAttribute`]. Default: none.
    pub fn sort(mut self, sort: impl Into<KeyAttribute>) -> Table {
        self.sort = Some(sort.into());
        self
    }

    /// Sets the attribute that holds the TTL, in epoch seconds. Default: no TTL.
    pub fn ttl(mut self, attribute: impl Into<String>) -> Table {
        self.ttl = Some(attribute.into());
        self
    }

    /// Sets which images the stream's records contain. [`Stream::Off`] disables the stream. Default:
    /// [`Stream::NewAndOldImages`].
    pub fn stream(mut self, stream: Stream) -> Table {
        self.stream = stream;
        self
    }

    /// Adds a secondary index.
    pub fn index(mut self, index: Index) -> Table {
        self.indexes.push(index);
        self
    }

    /// Sets a member of the CreateTable request. The value replaces the one from the description.
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Table {
        self.more.insert(member.into(), value.into());
        self
    }

    // Returns the body of a CreateTable request, or an error message if the description is invalid.
    fn json(&self) -> Result<Value, String> {
        if self.ttl.as_deref() == Some("") {
            return Err("ttl() needs the name of an attribute".into());
        }
        let mut attributes = Attributes::default();
        let mut request = Map::new();
        request.insert("TableName".into(), json!(self.name));
        request.insert("BillingMode".into(), json!("PAY_PER_REQUEST"));
        request.insert("KeySchema".into(), attributes.schema(&self.key, self.sort.as_ref())?);
        for (member, local) in [("GlobalSecondaryIndexes", false), ("LocalSecondaryIndexes", true)] {
            let indexes = self.indexes.iter().filter(|index| index.local == local);
            let indexes = indexes.map(|index| index.json(&self.key, &mut attributes));
            let indexes = indexes.collect::<Result<Vec<Value>, String>>()?;
            if !indexes.is_empty() {
                request.insert(member.into(), indexes.into());
            }
        }
        request.insert("AttributeDefinitions".into(), attributes.definitions());
        if let Some(stream) = self.stream.specification() {
            request.insert("StreamSpecification".into(), stream);
        }
        request.extend(self.more.clone());
        Ok(Value::Object(request))
    }
}

// The distinct attributes of all keys of a table and its indexes.
#[derive(Default)]
struct Attributes(Vec<KeyAttribute>);

impl Attributes {
    fn schema(&mut self, key: &KeyAttribute, sort: Option<&KeyAttribute>) -> Result<Value, String> {
        let mut schema = Vec::new();
        for (attribute, role) in [Some((key, "HASH")), sort.map(|sort| (sort, "RANGE"))].into_iter().flatten()
        {
            self.add(attribute)?;
            schema.push(json!({"AttributeName": attribute.name, "KeyType": role}));
        }
        Ok(schema.into())
    }

    fn add(&mut self, attribute: &KeyAttribute) -> Result<(), String> {
        match self.0.iter().find(|known| known.name == attribute.name) {
            None => self.0.push(attribute.clone()),
            Some(known) if known.kind == attribute.kind => {}
            Some(KeyAttribute { name, kind }) => {
                let other = attribute.kind;
                return Err(format!(
                    "the attribute {name:?} is used with two types, {kind} and {other}: use one"
                ));
            }
        }
        Ok(())
    }

    fn definitions(&self) -> Value {
        let definition = |it: &KeyAttribute| json!({"AttributeName": it.name, "AttributeType": it.kind});
        self.0.iter().map(definition).collect()
    }
}

impl World {
    /// Creates the table with on-demand capacity, enables TTL if `table` names a TTL attribute, and returns the table's
    /// description as DynamoDB JSON. If `table` is invalid, this method returns [`Error::Table`] and sends no request.
    ///
    /// ```no_run
    /// # async fn create(world: &mayfly::World) -> Result<(), mayfly::Error> {
    /// world.create_table(mayfly::Table::new("carts").ttl("ttl")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create_table(&self, table: Table) -> Result<Value, Error> {
        let request = table.json().map_err(|why| Error::Table { table: table.name.clone(), why })?;
        let mut created = self.account.dynamodb("CreateTable", &request).await?;
        if let Some(attribute) = &table.ttl {
            let ttl = json!({"Enabled": true, "AttributeName": attribute});
            let request = json!({"TableName": table.name, "TimeToLiveSpecification": ttl});
            self.account.dynamodb("UpdateTimeToLive", &request).await?;
        }
        Ok(created["TableDescription"].take())
    }
}

#[cfg(test)]
mod tests {
    use super::{Index, KeyAttribute, Projection, Stream, Table};
    use serde_json::json;

    #[test]
    fn a_create_table_request_has_a_string_key_named_id_and_a_stream_by_default() {
        assert_eq!(
            Table::new("carts").json().unwrap(),
            json!({
                "TableName": "carts", "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            })
        );
    }

    #[test]
    fn a_create_table_request_contains_keys_indexes_and_added_members() {
        let table = Table::new("orders")
            .key("customer")
            .sort(KeyAttribute::n("at"))
            .stream(Stream::Off)
            .index(Index::new("by_total").local().sort(KeyAttribute::n("total")))
            .index(
                Index::new("by_state")
                    .key("state")
                    .sort(KeyAttribute::n("at"))
                    .projection(Projection::Include(vec!["total".into()])),
            )
            .index(Index::new("by_parcel").key(KeyAttribute::b("parcel")).projection(Projection::KeysOnly))
            .with("DeletionProtectionEnabled", true);
        let key = |name, kind| json!({"AttributeName": name, "KeyType": kind});
        let attribute = |name, kind| json!({"AttributeName": name, "AttributeType": kind});
        assert_eq!(
            table.json().unwrap(),
            json!({
                "TableName": "orders", "BillingMode": "PAY_PER_REQUEST", "DeletionProtectionEnabled": true,
                "KeySchema": [key("customer", "HASH"), key("at", "RANGE")],
                "AttributeDefinitions": [attribute("customer", "S"), attribute("at", "N"), attribute("state", "S"),
                    attribute("parcel", "B"), attribute("total", "N")],
                "GlobalSecondaryIndexes": [
                    {"IndexName": "by_state", "KeySchema": [key("state", "HASH"), key("at", "RANGE")],
                        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]}},
                    {"IndexName": "by_parcel", "KeySchema": [key("parcel", "HASH")],
                        "Projection": {"ProjectionType": "KEYS_ONLY"}},
                ],
                "LocalSecondaryIndexes": [
                    {"IndexName": "by_total", "KeySchema": [key("customer", "HASH"), key("total", "RANGE")],
                        "Projection": {"ProjectionType": "ALL"}},
                ],
            })
        );
    }

    #[test]
    fn an_invalid_table_is_rejected() {
        let carts = || Table::new("carts");
        for (table, why) in [
            (
                carts().sort(KeyAttribute::n("at")).index(Index::new("by_at").key("at")),
                r#"the attribute "at" is used with two types, N and S: use one"#,
            ),
            (carts().ttl(""), "ttl() needs the name of an attribute"),
            (carts().index(Index::new("by_state")), r#"the global index "by_state" needs key()"#),
            (carts().index(Index::new("by_state").local()), r#"the local index "by_state" needs sort()"#),
            (
                carts().index(Index::new("by_state").local().key("state").sort("at")),
                r#"the local index "by_state" must have the table's partition key: leave key() out"#,
            ),
        ] {
            assert_eq!(table.json().unwrap_err(), why);
        }
    }
}
