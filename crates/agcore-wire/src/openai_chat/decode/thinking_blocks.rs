//! `thinking_blocks`, with which LiteLLM sends the thinking of Anthropic's models, and which must be sent back unchanged.
//!
//! A stream splits a block into pieces; its signature arrives at the end.

use serde_json::Value;

use super::reasoning_details::{join, text_member};

/// Appends pieces to a list. Thinking continues the last block until that has a signature.
pub(super) fn append(list: &mut Vec<Value>, pieces: impl IntoIterator<Item = Value>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn joins_pieces_until_the_signature() {
        let thinking =
            |text: &str, signature: &str| json!({"type": "thinking", "thinking": text, "signature": signature});
        let redacted = json!({"type": "redacted_thinking", "data": "x"});
        let mut list = Vec::new();
        append(&mut list, [json!({"type": "thinking", "thinking": "Let me "})]);
        append(&mut list, [thinking("see.", "")]);
        append(&mut list, [thinking("", "s1"), redacted.clone()]);
        append(&mut list, [thinking("More.", ""), thinking("", "s2")]);
        assert_eq!(list, [thinking("Let me see.", "s1"), redacted, thinking("More.", "s2")]);
    }
}
