//! `reasoning_details`, which OpenRouter and others send, and `thinking_blocks`, with which LiteLLM sends the thinking of
//! Anthropic's models. Both must be sent back unchanged.
//!
//! A stream splits them into pieces. Joined by the senders' rules they are the same as in a whole reply.

use serde_json::Value;

/// Appends pieces to a list. Text and summaries that continue the last entry are joined with it.
pub(in crate::openai_chat) fn append(list: &mut Vec<Value>, pieces: impl IntoIterator<Item = Value>) {
    for piece in pieces {
        match list.last_mut() {
            Some(last) if is_continuation(last, &piece) => join(last, piece),
            _ => list.push(piece),
        }
    }
}

/// Appends pieces of `thinking_blocks` to a list. Thinking continues the last block until that has a signature.
pub(super) fn append_thinking(list: &mut Vec<Value>, pieces: impl IntoIterator<Item = Value>) {
    for piece in pieces {
        match list.last_mut() {
            Some(last) if is_open(last) && text_member(&piece).is_some() => join(last, piece),
            _ => list.push(piece),
        }
    }
}

/// Returns whether a block is thinking that has no signature yet.
fn is_open(block: &Value) -> bool {
    let signature = block.get("signature").and_then(Value::as_str).unwrap_or_default();
    text_member(block).is_some() && signature.is_empty()
}

/// Returns the readable text of a piece, also of a thinking block.
pub(super) fn text(detail: &Value) -> Option<&str> {
    detail.get(text_member(detail)?)?.as_str()
}

/// Returns the member that contains the text of an entry of this type, which arrives in pieces.
fn text_member(detail: &Value) -> Option<&'static str> {
    match detail.get("type")?.as_str()? {
        "reasoning.text" => Some("text"),
        "reasoning.summary" => Some("summary"),
        "thinking" => Some("thinking"),
        _ => None,
    }
}

fn is_continuation(last: &Value, piece: &Value) -> bool {
    text_member(piece).is_some()
        && last.get("type") == piece.get("type")
        && ["index", "id"]
            .iter()
            .all(|name| match (last.get(name), piece.get(name)) {
                (Some(last), Some(piece)) => last == piece || last.is_null() || piece.is_null(),
                _ => true,
            })
}

fn join(last: &mut Value, piece: Value) {
    let member = text_member(&piece);
    let (Value::Object(last), Value::Object(piece)) = (last, piece) else {
        return;
    };
    for (name, value) in piece {
        match (last.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(more)) if member == Some(name.as_str()) => {
                text.push_str(&more);
            }
            (Some(_), Value::Null) => {}
            (_, value) => {
                last.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn joins_pieces() {
        let mut list = Vec::new();
        append(
            &mut list,
            [json!({"type": "reasoning.text", "text": "15 ", "index": 0, "signature": null})],
        );
        append(
            &mut list,
            [json!({"type": "reasoning.text", "text": "* 27", "index": 0})],
        );
        append(
            &mut list,
            [json!({"type": "reasoning.text", "signature": "s1", "index": 0})],
        );
        append(
            &mut list,
            [json!({"type": "reasoning.encrypted", "data": "e1", "index": 1})],
        );
        append(
            &mut list,
            [json!({"type": "reasoning.encrypted", "data": "e2", "index": 2})],
        );
        let expected = json!([
            {"type": "reasoning.text", "text": "15 * 27", "index": 0, "signature": "s1"},
            {"type": "reasoning.encrypted", "data": "e1", "index": 1},
            {"type": "reasoning.encrypted", "data": "e2", "index": 2},
        ]);
        assert_eq!(Value::Array(list), expected);
    }

    #[test]
    fn joins_thinking_until_its_signature() {
        let thinking =
            |text: &str, signature: &str| json!({"type": "thinking", "thinking": text, "signature": signature});
        let redacted = json!({"type": "redacted_thinking", "data": "x"});
        let mut list = Vec::new();
        append_thinking(&mut list, [json!({"type": "thinking", "thinking": "Let me "})]);
        append_thinking(&mut list, [thinking("see.", "")]);
        append_thinking(&mut list, [thinking("", "s1"), redacted.clone()]);
        append_thinking(&mut list, [thinking("More.", ""), thinking("", "s2")]);
        assert_eq!(list, [thinking("Let me see.", "s1"), redacted, thinking("More.", "s2")]);
    }
}
