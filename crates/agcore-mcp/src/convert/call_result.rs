//! Results of calls whose form is wrong.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};

/// Keeps what can be used of the result of a call. Returns `None` for a result of another kind.
///
/// Contents of unknown kinds are kept as JSON, and annotations of a wrong type are left out.
pub(crate) fn lenient_result(result: Value) -> Option<CallToolResult> {
    let mut read = CallToolResult::default();
    let mut members = match result {
        Value::Object(members) => members,
        Value::Null => return Some(read),
        Value::Array(list) => {
            read.content = list.into_iter().map(block).collect();
            return Some(read);
        }
        other => {
            read.content = vec![text(other)];
            return Some(read);
        }
    };
    if members.get("resultType").is_some_and(|kind| kind != "complete") {
        return None;
    }
    read.content = match members.remove("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.into_iter().map(block).collect(),
        Some(other @ Value::Object(_)) => vec![block(other)],
        Some(other) => vec![text(other)],
    };
    read.is_error = match members.get("isError") {
        Some(Value::Bool(is_error)) => Some(*is_error),
        Some(Value::String(is_error)) => Some(is_error.eq_ignore_ascii_case("true")),
        Some(Value::Number(is_error)) => Some(is_error.as_f64() != Some(0.0)),
        _ => None,
    };
    if let Some(Value::Object(meta)) = members.remove("_meta") {
        read.meta = serde_json::from_value(Value::Object(meta)).ok();
    }
    // Revisions of 2024 named it so.
    let structured = members
        .remove("structuredContent")
        .or_else(|| members.remove("toolResult"));
    read.structured_content = structured.filter(|value| !value.is_null());
    members.retain(|name, _| !matches!(&**name, "isError" | "resultType"));
    if read.content.is_empty() && read.structured_content.is_none() && !members.is_empty() {
        read.content = vec![text(Value::Object(members))];
    }
    Some(read)
}

/// Reads a content, or returns it as text.
pub(super) fn block(content: Value) -> ContentBlock {
    match serde_json::from_value(content.clone()) {
        Ok(block) => block,
        Err(_) => repaired_block(content),
    }
}

fn repaired_block(content: Value) -> ContentBlock {
    let Value::Object(mut members) = content else {
        return text(content);
    };
    let optional =
        |members: &mut Map<String, Value>| members.retain(|name, _| !matches!(&**name, "annotations" | "_meta"));
    optional(&mut members);
    if let Some(Value::Object(resource)) = members.get_mut("resource") {
        optional(resource);
    }
    let content = Value::Object(members);
    if let Ok(block) = serde_json::from_value(content.clone()) {
        return block;
    }
    match content.get("text") {
        Some(inner) if !inner.is_null() && content.get("type").is_none_or(|kind| kind == "text") => text(inner.clone()),
        _ => text(content),
    }
}

fn text(value: Value) -> ContentBlock {
    ContentBlock::text(plain(value))
}

/// Returns a string as it is, and any other value as JSON.
pub(super) fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(result: Value, texts: &[&str], structured: Option<Value>) {
        let read = lenient_result(result.clone()).unwrap();
        let found: Vec<_> = read
            .content
            .iter()
            .map(|block| match block {
                ContentBlock::Text(text) => text.text.clone(),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(found, texts, "{result}");
        assert_eq!(read.structured_content, structured, "{result}");
    }

    #[test]
    fn usable_contents_are_kept() {
        let known = json!({"type": "text", "text": "KNOWN"});
        check(
            json!({"content": [{"type": "hologram", "x": 1}, known]}),
            &[r#"{"type":"hologram","x":1}"#, "KNOWN"],
            None,
        );
        let annotated = json!({"type": "text", "text": "T", "annotations": {"priority": 2.5, "audience": ["robot"]}});
        check(json!({"content": [annotated]}), &["T"], None);
        check(json!({"content": "plain"}), &["plain"], None);
        check(json!({"content": known}), &["KNOWN"], None);
        check(
            json!({"content": ["a", 1, {"text": "b"}, {"type": "text", "text": 5}]}),
            &["a", "1", "b", "5"],
            None,
        );
        check(
            json!({"content": null, "structuredContent": {"n": 3}, "_meta": []}),
            &[],
            Some(json!({"n": 3})),
        );
        check(json!({"toolResult": {"n": 3}}), &[], Some(json!({"n": 3})));
        check(json!({"temperature": 3}), &[r#"{"temperature":3}"#], None);
        check(json!("plain"), &["plain"], None);
        check(json!([known]), &["KNOWN"], None);
        check(json!(null), &[], None);
    }

    #[test]
    fn failures_stay_failures() {
        for is_error in [json!(true), json!("true"), json!(1)] {
            let read = lenient_result(json!({"content": "no", "isError": is_error})).unwrap();
            assert_eq!(read.is_error, Some(true));
        }
        assert!(lenient_result(json!({"resultType": "task", "content": "x"})).is_none());
    }
}
