//! Reading what cargo prints as JSON.

use serde_json::Value;

/// The messages that cargo prints as JSON, one a line, and that are of this kind.
pub(crate) fn messages<'a>(stdout: &'a [u8], reason: &'a str) -> impl Iterator<Item = Value> + 'a {
    let lines = stdout.split(|&byte| byte == b'\n');
    let messages = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    messages.filter(move |message| message["reason"] == reason)
}

/// A list's items; none of what is no list.
pub(crate) fn items(json: &Value) -> impl Iterator<Item = &Value> {
    json.as_array().into_iter().flatten()
}

/// A list's texts.
pub(crate) fn texts(json: &Value) -> impl Iterator<Item = &str> {
    items(json).filter_map(Value::as_str)
}

/// A text; an empty one of what is no text.
pub(crate) fn text(json: &Value) -> String {
    json.as_str().unwrap_or_default().to_owned()
}
