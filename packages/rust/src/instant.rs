// Times in the format of the control API, to the millisecond: "2031-01-01T00:00:00.000Z".

use std::time::SystemTime;

use serde::{Deserialize, Deserializer, de::Error};

pub(crate) fn print(at: SystemTime) -> String {
    humantime::format_rfc3339_millis(at).to_string()
}

pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(from)?;
    humantime::parse_rfc3339(&text).map_err(|_| D::Error::custom(format!("malformed time {text:?}")))
}

// Reads null as None. A member that can be missing also needs #[serde(default)].
pub(crate) fn read_optional<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SystemTime>, D::Error> {
    #[derive(Deserialize)]
    struct Instant(#[serde(deserialize_with = "read")] SystemTime);
    Ok(Option::<Instant>::deserialize(from)?.map(|instant| instant.0))
}
