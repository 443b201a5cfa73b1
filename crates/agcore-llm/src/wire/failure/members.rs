//! Members of an object, as servers variously name them, and whether they say something.

use serde_json::{Map, Value};

/// Members whose words are the message, the most telling first.
///
/// `msg` stands for FastAPI and gateways, `error_msg` for Baidu, `error_description` for OAuth (RFC 6749), `detail` for
/// FastAPI and problem details (RFC 9457), and with a capital `Message` for AWS.
pub(super) const WORDS: &[&str] = &[
    "message",
    "msg",
    "error_msg",
    "error_message",
    "error_description",
    "detail",
];

/// Members whose words are the message when there is no other.
pub(super) const FAINT_WORDS: &[&str] = &["title", "reason"];

/// What a status in words says of a failure.
const FAILED: &[&str] = &["error", "fail", "failed", "failure"];

/// What a message says when nothing failed.
const FINE: &[&str] = &["ok", "success"];

/// The member of this name, or of the same in capitals or without underscores, if it says something.
pub(super) fn said<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let named = members.iter().filter(|(known, _)| is_same(known, name));
    named.map(|(_, value)| value).find(|value| says(value))
}

/// The text of a member, if it says something.
pub(super) fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    said(members, name)?.as_str()
}

/// MiniMax's verdict of a failure: under every answer stands one, with the code 0 if it is a good one.
pub(super) fn refusal(members: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let verdict = said(members, "base_resp")?.as_object()?;
    match said(verdict, "status_code")? {
        Value::Number(code) => code.as_i64() != Some(0),
        Value::String(code) => code != "0",
        _ => false,
    }
    .then_some(verdict)
}

/// Whether an object that is no answer is itself an error.
pub(super) fn is_error(members: &Map<String, Value>) -> bool {
    let complains = |name: &&str| said(members, name).is_some_and(is_complaint);
    let failed = || text(members, "status").is_some_and(|status| is_any_of(status, FAILED));
    WORDS.iter().chain(&["errors"]).any(complains)
        || refusal(members).is_some()
        || (failed() && FAINT_WORDS.iter().any(complains))
}

/// Whether what stands in the place of a message is one of a failure.
fn is_complaint(value: &Value) -> bool {
    match value {
        Value::String(text) => !is_any_of(text, FINE),
        Value::Array(_) => true,
        // With a role it is a message of the conversation.
        Value::Object(members) => !members.contains_key("role"),
        _ => false,
    }
}

/// Whether a value says something: not null, false, blank, or made of nothing but these.
fn says(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_so) => *is_so,
        Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(says),
        Value::Object(members) => members.values().any(says),
    }
}

fn is_same(known: &str, name: &str) -> bool {
    known == name || letters(known).eq(letters(name))
}

fn letters(name: &str) -> impl Iterator<Item = u8> {
    let letters = name.bytes().filter(|byte| *byte != b'_');
    letters.map(|byte| byte.to_ascii_lowercase())
}

fn is_any_of(text: &str, words: &[&str]) -> bool {
    let text = text.trim().trim_end_matches(['.', '!']);
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> Map<String, Value> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn names_are_known_in_every_spelling() {
        for json in [
            r#"{"error_msg": 1}"#,
            r#"{"errorMsg": 1}"#,
            r#"{"ErrorMsg": 1}"#,
            r#"{"error_msg": null, "ErrorMsg": 1}"#,
        ] {
            assert!(said(&object(json), "error_msg").is_some(), "{json}");
        }
        for json in [r#"{"error": 1}"#, r#"{"error_msgs": 1}"#, "{}"] {
            assert!(said(&object(json), "error_msg").is_none(), "{json}");
        }
    }

    #[test]
    fn flat_errors_are_told_from_other_objects() {
        let check = |json: &str, expected| assert_eq!(is_error(&object(json)), expected, "{json}");
        check(r#"{"code": 500, "msg": "boom"}"#, true);
        check(r#"{"Message": "boom"}"#, true);
        check(r#"{"error_code": 336100, "error_msg": "boom"}"#, true);
        check(r#"{"message": {"detail": [{"msg": "boom"}]}}"#, true);
        check(r#"{"errors": ["boom"]}"#, true);
        check(r#"{"status": "error", "reason": "boom"}"#, true);
        check(
            r#"{"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}"#,
            true,
        );
        check(r#"{"base_resp": {"status_code": 0, "status_msg": "success"}}"#, false);
        check(r#"{"base_resp": {"status_code": "0"}}"#, false);
        check(r#"{"base_resp": null}"#, false);
        check(r#"{"code": 0, "message": "", "detail": null}"#, false);
        check(r#"{"message": [], "errors": {}, "msg": [{}, null]}"#, false);
        check(r#"{"code": 0, "msg": "Success"}"#, false);
        check(r#"{"message": {"role": "assistant", "content": "hi"}}"#, false);
        check(r#"{"status": "error", "reason": ""}"#, false);
        check(r#"{"status": "completed", "reason": "stop"}"#, false);
        check(r#"{"title": "a poem", "id": "1"}"#, false);
        check("{}", false);
    }
}
