//! Lookup of members by the various names that servers use, ignoring blank values.

use serde_json::{Map, Value};

/// The members that contain a message, in order of preference.
///
/// `msg` is used by FastAPI and gateways, `error_msg` by Baidu, `error_description` by OAuth (RFC 6749), `detail` by
/// FastAPI and problem details (RFC 9457), and `Message` by AWS.
pub(super) const MESSAGE_MEMBERS: &[&str] = &[
    "message",
    "msg",
    "error_msg",
    "error_message",
    "error_description",
    "detail",
];

/// The members that contain a message if there is no other one.
pub(super) const FALLBACK_MEMBERS: &[&str] = &["title", "reason"];

/// The values of a `status` member that report a failure.
const FAILED: &[&str] = &["error", "fail", "failed", "failure"];

/// The messages that report a success.
const SUCCEEDED: &[&str] = &["ok", "success"];

/// Returns the value of a member unless it is blank. Case and underscores in the name are ignored.
pub(super) fn non_blank<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let named = members.iter().filter(|(known, _)| is_same_name(known, name));
    named.map(|(_, value)| value).find(|value| !is_blank(value))
}

/// Returns the text of a member unless it is blank.
pub(super) fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    non_blank(members, name)?.as_str()
}

/// Returns MiniMax's `base_resp` if it reports a failure. Every reply has one, with the code 0 for success.
pub(super) fn failed_base_resp(members: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let base_resp = non_blank(members, "base_resp")?.as_object()?;
    match non_blank(base_resp, "status_code")? {
        Value::Number(code) => code.as_i64() != Some(0),
        Value::String(code) => code != "0",
        _ => false,
    }
    .then_some(base_resp)
}

/// Returns whether an object that is not a reply is an error.
pub(super) fn is_error(members: &Map<String, Value>) -> bool {
    let has_message = |name: &&str| non_blank(members, name).is_some_and(is_error_message);
    let failed = || text(members, "status").is_some_and(|status| is_any_of(status, FAILED));
    MESSAGE_MEMBERS.iter().chain(&["errors"]).any(has_message)
        || failed_base_resp(members).is_some()
        || (failed() && FALLBACK_MEMBERS.iter().any(has_message))
}

/// Returns whether the value of a message member is the message of a failure.
fn is_error_message(value: &Value) -> bool {
    match value {
        Value::String(text) => !is_any_of(text, SUCCEEDED),
        Value::Array(_) => true,
        // An object with a role is a message of the conversation.
        Value::Object(members) => !members.contains_key("role"),
        _ => false,
    }
}

/// Returns whether a value is `null`, `false`, blank text, or contains nothing but such values.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(members) => members.values().all(is_blank),
    }
}

fn is_same_name(known: &str, name: &str) -> bool {
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
    fn finds_names_in_every_spelling() {
        for json in [
            r#"{"error_msg": 1}"#,
            r#"{"errorMsg": 1}"#,
            r#"{"ErrorMsg": 1}"#,
            r#"{"error_msg": null, "ErrorMsg": 1}"#,
        ] {
            assert!(non_blank(&object(json), "error_msg").is_some(), "{json}");
        }
        for json in [r#"{"error": 1}"#, r#"{"error_msgs": 1}"#, "{}"] {
            assert!(non_blank(&object(json), "error_msg").is_none(), "{json}");
        }
    }

    #[test]
    fn distinguishes_flat_errors_from_other_objects() {
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
