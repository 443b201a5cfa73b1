//! The part that is left of the metadata of a message whose session is erased.

use agcore_chat::Timestamp;
use agcore_session::{MessageMetadata, MessageRole, NewMessage};
use serde_json::{Map, Value};

use crate::error::{StoreError, StoreErrorKind};

/// The types of metadata with data of the user or the model, as a list of SQL.
pub(crate) const TYPES_WITH_DATA: &str = "('tool_call', 'tool_result', 'user_input')";

/// Returns the metadata of a message without what it contains, but with its bill. Of metadata that cannot be read, the type is
/// left.
///
/// # Errors
/// When the metadata cannot be written.
pub(crate) fn erased_metadata(kind: &str, metadata: &str) -> Result<String, StoreError> {
    let mut message = NewMessage::new("erased", MessageRole::System, "");
    let members: Option<Map<String, Value>> = serde_json::from_str(metadata).ok();
    let is_read = members.is_some_and(|members| message.set_stored_metadata(members).is_ok());
    if !is_read || message.metadata.is_none() {
        message.metadata = Some(empty(kind));
    }
    let stored = message.store(1, Timestamp::default()).erased("erased");
    let unwritable = |error| {
        let message = "cannot erase the metadata of a message";
        StoreError::with_source(StoreErrorKind::Serialization, message, error)
    };
    let written = stored.stored_metadata().map_err(unwritable)?;
    Ok(written.unwrap_or_default())
}

fn empty(kind: &str) -> MessageMetadata {
    let text = String::new;
    match kind {
        "tool_call" => MessageMetadata::ToolCall {
            call_id: text(),
            name: text(),
            arguments: Value::Null,
        },
        "tool_result" => MessageMetadata::ToolResult {
            call_id: text(),
            name: text(),
            is_error: false,
        },
        "user_input" => MessageMetadata::UserInput { data: Map::new() },
        _ => MessageMetadata::AssistantOutput,
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{Bill, Money};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: &str, metadata: &str, expected: &str) {
        assert_eq!(erased_metadata(kind, metadata).unwrap(), expected);
    }

    #[test]
    fn the_bill_is_kept_and_data_is_not() {
        check(
            "user_input",
            r#"{"type":"user_input","data":{"a":"secret"}}"#,
            r#"{"type":"user_input"}"#,
        );
        check(
            "tool_call",
            r#"{"type":"tool_call","call_id":"c","name":"mail","arguments":{"to":"ann"}}"#,
            r#"{"type":"tool_call","call_id":"","name":"mail","arguments":null}"#,
        );
        let mut bill = Bill::default();
        bill.cost = Some(Money::from_micros(7, "EUR"));
        let message = NewMessage::new("m", MessageRole::User, "").with_metadata(MessageMetadata::UserInput {
            data: [("a".to_owned(), Value::from("secret"))].into_iter().collect(),
        });
        let stored = message.with_bill(bill.clone()).store(1, Timestamp::default());
        let metadata = stored.stored_metadata().unwrap().unwrap();
        assert!(metadata.contains("secret"));
        let erased: Value = serde_json::from_str(&erased_metadata("user_input", &metadata).unwrap()).unwrap();
        assert_eq!(erased, json!({"type": "user_input", "bill": bill}));
    }

    #[test]
    fn damaged_metadata_is_replaced() {
        for damaged in ["{", "[]", r#"{"type":"unheard_of"}"#, "{}"] {
            check("user_input", damaged, r#"{"type":"user_input"}"#);
            check(
                "tool_result",
                damaged,
                r#"{"type":"tool_result","call_id":"","name":"","is_error":false}"#,
            );
        }
    }
}
