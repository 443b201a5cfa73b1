//! [`CallPart`]: the `functionCall` of a part. Its arguments are an object; only Vertex AI can stream them, value by value.

use std::borrow::Cow;

use agcore_chat::Text;
use serde_json::{Result, Value};

use crate::decode::json::JsonReader;

/// The arguments of a call that has none.
pub(super) const NO_ARGUMENTS: &str = "{}";

/// A call, or a piece of one.
#[derive(Debug, Default)]
pub(super) struct CallPart {
    pub(super) id: Option<Text>,
    pub(super) name: Option<Text>,
    /// The JSON text of the arguments.
    pub(super) arguments: Option<Text>,
    pub(super) partial: Vec<PartialArgument>,
    /// Whether more of the call follows in other parts.
    pub(super) will_continue: bool,
}

/// A value in the arguments, or a piece of a string there.
#[derive(Debug)]
pub(super) struct PartialArgument {
    /// The place of the value: `$.filters[0].name`.
    pub(super) path: Box<str>,
    /// `None` if there is only a place.
    pub(super) value: Option<Value>,
    /// Whether more of the string follows.
    pub(super) will_continue: bool,
}

impl CallPart {
    /// Reads a call; `None` for `null`.
    pub(super) fn read(json: &mut JsonReader<'_>) -> Result<Option<Box<Self>>> {
        let mut members = json.object("a function call")?;
        if members.is_absent() {
            return Ok(None);
        }
        let mut call = Box::<Self>::default();
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "id" => call.id = json.text()?,
                "name" => call.name = json.text()?,
                "args" => call.arguments = read_arguments(json)?,
                "partialArgs" => {
                    let mut list = json.list("partial arguments")?;
                    while json.next_item(&mut list)? {
                        call.partial.extend(PartialArgument::read(json)?);
                    }
                }
                "willContinue" => call.will_continue = json.raw()? == "true",
                _ => json.skip()?,
            }
        }
        Ok(Some(call))
    }

    /// Returns whether this is a piece of a call that is streamed value by value.
    pub(super) fn is_piece(&self) -> bool {
        self.will_continue || !self.partial.is_empty()
    }

    /// Returns whether there is nothing in it, which ends a call that is streamed value by value.
    pub(super) fn is_empty(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.arguments.is_none() && !self.is_piece()
    }
}

impl PartialArgument {
    fn read(json: &mut JsonReader<'_>) -> Result<Option<Self>> {
        let mut members = json.object("a partial argument")?;
        if members.is_absent() {
            return Ok(None);
        }
        let (mut path, mut value, mut will_continue) = (Cow::Borrowed(""), None, false);
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "jsonPath" => path = json.str()?,
                "stringValue" => value = Some(Value::from(json.str()?.into_owned())),
                "numberValue" | "boolValue" => value = Some(json.value()?),
                "nullValue" => {
                    json.skip()?;
                    value = Some(Value::Null);
                }
                "willContinue" => will_continue = json.raw()? == "true",
                _ => json.skip()?,
            }
        }
        Ok(Some(Self {
            path: path.into(),
            value,
            will_continue,
        }))
    }
}

/// Reads arguments as JSON text. Gateways send them in a string.
fn read_arguments(json: &mut JsonReader<'_>) -> Result<Option<Text>> {
    match json.peek() {
        Some(b'"' | b'n') => json.text(),
        _ => Ok(Some(compact(json.raw()?))),
    }
}

/// Removes the whitespace between values if the JSON was indented, so that a whole reply has the same arguments as a stream.
fn compact(json: &str) -> Text {
    if !json.contains('\n') {
        return json.into();
    }
    let (mut text, mut in_string, mut escaped) = (String::with_capacity(json.len()), false, false);
    for letter in json.chars() {
        if !in_string && letter.is_ascii_whitespace() {
            continue;
        }
        in_string ^= letter == '"' && !escaped;
        escaped = in_string && letter == '\\' && !escaped;
        text.push(letter);
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_is_removed_outside_of_strings() {
        let check = |json: &str, expected: &str| assert_eq!(compact(json), expected);
        check("{\n  \"a\": 1.0,\n  \"b c\": [ 1e3 ]\n}", r#"{"a":1.0,"b c":[1e3]}"#);
        check(
            "{\n \"a \\\" b\": \"c  d\\\\\"\n, \"e\": 1 }",
            r#"{"a \" b":"c  d\\","e":1}"#,
        );
        check(r#"{"a": 1}"#, r#"{"a": 1}"#);
    }
}
