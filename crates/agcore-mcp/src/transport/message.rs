//! Messages of servers, read with tolerance for the mistakes of their encoders.

mod id_scan;
mod text;

use agcore_chat::text::prefix;
use rmcp::{
    RoleClient,
    model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId},
    service::RxJsonRpcMessage,
};
use serde_json::{Map, Value};

pub(crate) use self::id_scan::IdScan;
use crate::error::quote;

/// A message of a server.
pub(crate) type Message = RxJsonRpcMessage<RoleClient>;

/// The most of a text that is quoted, in bytes.
const EXCERPT_BYTES: usize = 300;

/// The beginning of texts in UTF-8 that some servers write.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A text that is not a message.
#[derive(Debug)]
pub(crate) struct Unreadable {
    /// The request that the text answers, if it is an answer.
    pub(crate) id: Option<RequestId>,
    /// Whether it has the members of an answer.
    pub(crate) is_answer: bool,
    /// Whether it is the beginning of an object or a list.
    pub(crate) is_cut: bool,
    pub(crate) reason: String,
}

impl Unreadable {
    /// Returns the answer that the request gets instead: an error with the reason and the beginning of the text.
    pub(crate) fn as_answer(&self, id: RequestId, text: &[u8]) -> Message {
        let message = format!(
            "the answer cannot be decoded: {}; it begins with `{}`",
            self.reason,
            excerpt(text)
        );
        JsonRpcMessage::error(ErrorData::internal_error(message, None), Some(id))
    }
}

/// Returns the beginning of a text as one line.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(2 * EXCERPT_BYTES)]);
    quote(prefix(&text, EXCERPT_BYTES))
}

/// Reads a message, the messages of a batch, or several messages in a row.
///
/// Broken text and the common mistakes in the shape of answers are repaired. An answer without an id gets `asked`, the
/// id of the only request that it can belong to, if there is one. An answer that cannot be read becomes an error for its
/// request if there are others in the text.
pub(crate) fn read(json: &[u8], asked: Option<&RequestId>) -> Result<Vec<Message>, Unreadable> {
    let json = json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(json).trim_ascii();
    match serde_json::from_slice::<Message>(json) {
        Ok(JsonRpcMessage::Error(error)) if error.id.is_none() => {
            return Ok(vec![JsonRpcMessage::error(error.error, asked.cloned())]);
        }
        Ok(message) => return Ok(vec![message]),
        Err(_) => {}
    }
    let (values, rest) = values(json);
    let mut messages = Vec::new();
    let mut failures = Vec::new();
    for value in values {
        let batch = match value {
            Value::Array(batch) => batch,
            value => vec![value],
        };
        for value in batch {
            match shaped(value, asked) {
                Ok(message) => messages.push(message),
                Err(failure) => failures.push(failure),
            }
        }
    }
    failures.extend(rest);
    if messages.is_empty() && failures.len() < 2 {
        // An empty batch is not a failure.
        return failures.pop().map_or(Ok(messages), Err);
    }
    for failure in failures {
        match &failure.id {
            Some(id) => messages.push(failure.as_answer(id.clone(), json)),
            None => tracing::debug!(
                reason = failure.reason,
                "a part of the text of an MCP server is not a message"
            ),
        }
    }
    Ok(messages)
}

/// Parses the values of a text, and returns why what follows them cannot be parsed.
fn values(json: &[u8]) -> (Vec<Value>, Option<Unreadable>) {
    let error = match serde_json::from_slice(json) {
        Ok(value) => return (vec![value], None),
        Err(error) => error,
    };
    let repaired = text::repair(json);
    let mut stream = serde_json::Deserializer::from_str(&repaired).into_iter();
    let mut values = Vec::new();
    let last = loop {
        match stream.next() {
            Some(Ok(value)) => values.push(value),
            Some(Err(last)) => break Some(last),
            None if values.is_empty() => break None,
            None => return (values, None),
        }
    };
    let is_eof = last.as_ref().is_some_and(serde_json::Error::is_eof);
    let failure = last.filter(|_| !values.is_empty()).unwrap_or(error);
    let scan = IdScan::of(&repaired.as_bytes()[stream.byte_offset()..]);
    let rest = Unreadable {
        id: scan.answered(),
        is_answer: scan.is_answer(),
        is_cut: is_eof && scan.is_open(),
        reason: quote(&failure.to_string()),
    };
    (values, Some(rest))
}

/// Returns the message that a value stands for.
fn shaped(value: Value, asked: Option<&RequestId>) -> Result<Message, Unreadable> {
    let no_answer = |reason: String| Unreadable {
        id: None,
        is_answer: false,
        is_cut: false,
        reason,
    };
    let Value::Object(mut members) = value else {
        return Err(no_answer("it is not a JSON object".to_owned()));
    };
    let has_version = members.insert("jsonrpc".to_owned(), "2.0".into()).is_some();
    if members.contains_key("method") {
        return serde_json::from_value(Value::Object(members)).map_err(|error| no_answer(quote(&error.to_string())));
    }
    let id = members.remove("id").and_then(request_id).or_else(|| asked.cloned());
    let error = members.remove("error").filter(|error| !error.is_null());
    match (error, members.remove("result")) {
        (Some(error), _) => Ok(JsonRpcMessage::error(error_data(error), id)),
        (None, Some(result)) => result_message(result, id),
        // Lines of logs have an id as well.
        (None, None) => Err(Unreadable {
            id: id.filter(|_| has_version),
            ..no_answer("it has neither `result` nor `error`".to_owned())
        }),
    }
}

fn result_message(result: Value, id: Option<RequestId>) -> Result<Message, Unreadable> {
    let unreadable = |id: Option<RequestId>, reason: String| Unreadable {
        id,
        is_answer: true,
        is_cut: false,
        reason,
    };
    let Some(id) = id else {
        return Err(unreadable(None, "it has no id".to_owned()));
    };
    let result = match result {
        // PHP writes empty objects like this.
        Value::Null => Value::Object(Map::new()),
        Value::Array(list) if list.is_empty() => Value::Object(Map::new()),
        other => other,
    };
    let message = serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result});
    serde_json::from_value(message).map_err(|error| unreadable(Some(id), quote(&error.to_string())))
}

/// Reads an id. Some languages have no integers.
fn request_id(id: Value) -> Option<RequestId> {
    match id {
        Value::String(text) => Some(RequestId::String(text.into())),
        Value::Number(number) => integer(&number).map(RequestId::Number),
        _ => None,
    }
}

fn integer(number: &serde_json::Number) -> Option<i64> {
    let whole = |number: f64| (number.fract() == 0.0 && number.abs() < 9e15).then_some(number);
    #[expect(clippy::cast_possible_truncation, reason = "it is a whole number in the range")]
    number
        .as_i64()
        .or_else(|| number.as_f64().and_then(whole).map(|number| number as i64))
}

/// Reads the error of an answer, whatever form it has.
fn error_data(error: Value) -> ErrorData {
    let internal = |message: String| ErrorData::new(ErrorCode::INTERNAL_ERROR, message, None);
    let Value::Object(mut members) = error else {
        return internal(plain(error));
    };
    let data = members.remove("data").filter(|data| !data.is_null());
    let message = members.remove("message").filter(|message| !message.is_null());
    let message = message
        .or_else(|| data.clone())
        .map_or("it gave no reason".to_owned(), plain);
    let number = |text: &str| text.trim().parse::<i32>().ok();
    let (code, message) = match members.remove("code") {
        Some(Value::Number(code)) => (integer(&code).and_then(|code| i32::try_from(code).ok()), message),
        Some(Value::String(code)) => match number(&code) {
            Some(code) => (Some(code), message),
            None => (None, format!("{code}: {message}")),
        },
        _ => (None, message),
    };
    let code = code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
    ErrorData::new(code, message, data)
}

/// Returns a string as it is, and any other value as JSON.
fn plain(value: Value) -> String {
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
    fn check(text: &[u8], expected: Value) {
        let asked = RequestId::Number(9);
        let messages = read(text, Some(&asked)).unwrap();
        let messages = serde_json::to_value(messages).unwrap();
        assert_eq!(messages, expected, "{}", String::from_utf8_lossy(text));
    }

    fn failed(id: i64, code: i32, message: &str) -> Value {
        json!([{"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}])
    }

    #[test]
    fn answers_are_repaired() {
        let result = |id: i64, text: &str| json!([{"jsonrpc": "2.0", "id": id, "result": {"x": text}}]);
        check(
            br#"{"jsonrpc":"2.0","id":1,"result":{"x":"a\ud83d"}}"#,
            result(1, "a\u{fffd}"),
        );
        check(
            b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"a\"}}\r\n",
            result(1, "a"),
        );
        check(br#"{"id":1.0,"result":{"x":"a"},"error":null}"#, result(1, "a"));
        check(br#"[{"jsonrpc":"1.0","id":1,"result":{"x":"a"}}]"#, result(1, "a"));
        check(br#"{"jsonrpc":"2.0","id":null,"result":{"x":"a"}}"#, result(9, "a"));
        check(
            br#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
            json!([{"jsonrpc": "2.0", "id": 1, "result": {}}]),
        );
    }

    #[test]
    fn errors_of_any_form_are_read() {
        check(
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"No"}}"#,
            failed(9, -32603, "No"),
        );
        check(
            br#"{"jsonrpc":"2.0","id":1,"error":{"code":"E_BAD","message":"No"}}"#,
            failed(1, -32603, "E_BAD: No"),
        );
        check(
            br#"{"jsonrpc":"2.0","id":1,"error":{"code":"-5","message":"No"}}"#,
            failed(1, -5, "No"),
        );
        check(
            br#"{"jsonrpc":"2.0","id":1,"error":{"code":1e300,"message":["a"]}}"#,
            failed(1, -32603, r#"["a"]"#),
        );
        check(
            br#"{"jsonrpc":"2.0","id":1,"error":{"message":null}}"#,
            failed(1, -32603, "it gave no reason"),
        );
        check(br#"{"error":"unauthorized"}"#, failed(9, -32603, "unauthorized"));
        check(br#"{"id":1,"error":true,"result":{}}"#, failed(1, -32603, "true"));
    }

    #[track_caller]
    fn check_unreadable(text: &[u8], id: Option<i64>, is_answer: bool) {
        let unreadable = read(text, None).unwrap_err();
        assert_eq!(
            (unreadable.id, unreadable.is_answer),
            (id.map(RequestId::Number), is_answer)
        );
        assert!(!unreadable.reason.is_empty());
    }

    #[test]
    fn several_messages_in_a_row_are_read() {
        let pong = |id: i64| json!({"jsonrpc": "2.0", "id": id, "result": {}});
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        check(
            format!("{ping}{} {}", pong(1), pong(2)).as_bytes(),
            json!([ping, pong(1), pong(2)]),
        );
        check(
            format!("[{}]{}", pong(1), pong(2)).as_bytes(),
            json!([pong(1), pong(2)]),
        );
        check(format!("{} done", pong(1)).as_bytes(), json!([pong(1)]));
        // An answer that cannot be read does not take the others with it.
        for broken in [r#"{"jsonrpc":"2.0","id":3,"result":{"#, r#"{"jsonrpc":"2.0","id":3}"#] {
            let text = format!("{ping}{broken}");
            let messages = serde_json::to_value(read(text.as_bytes(), None).unwrap()).unwrap();
            assert_eq!((&messages[0], &messages[1]["id"]), (&ping, &json!(3)), "{text}");
            let reason = messages[1]["error"]["message"].as_str().unwrap();
            assert!(reason.starts_with("the answer cannot be decoded: "), "{reason}");
        }
        let batch = read(br#"[{"jsonrpc":"2.0","id":3},{"jsonrpc":"2.0","id":4}]"#, None).unwrap();
        assert_eq!(batch.len(), 2);
    }

    #[test]
    fn colors_are_no_part_of_a_message() {
        let expected = json!([{"jsonrpc": "2.0", "id": 1, "result": {"x": "\u{1b}[1m"}}]);
        check(
            b"\x1b[32m{\"jsonrpc\":\"2.0\",\x1b[1;31m\"id\"\x1b[0m:1,\"result\":{\"x\":\"\x1b[1m\"}}\x1b[0m",
            expected,
        );
    }

    #[test]
    fn other_texts_are_refused_with_the_id_that_they_have() {
        check_unreadable(
            br#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"text":"bro"#,
            Some(3),
            true,
        );
        check_unreadable(br#"{"jsonrpc":"2.0","result":{}}"#, None, true);
        check_unreadable(br#"{"jsonrpc":"2.0","id":3}"#, Some(3), false);
        check_unreadable(br#"{'jsonrpc': '2.0', 'id': 3, 'result': {'x': None}}"#, Some(3), true);
        check_unreadable(b"\x1b[32m{\"id\":3,\"result\":{\x1b[0m", Some(3), true);
        check_unreadable(b"<html>502</html>", None, false);
        check_unreadable(br#"{"level":"info","id":1}"#, None, false);
        check_unreadable(b"", None, false);
        check_unreadable(b"null", None, false);
    }
}
