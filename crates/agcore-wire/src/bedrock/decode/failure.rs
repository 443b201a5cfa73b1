//! Failures: errors of HTTP, and exceptions in the middle of a stream.

use serde_json::{Value, json};

use crate::{
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
    framing::event_stream::EventStreamMessage,
};

/// Words of the vendor, with what to do next.
const ADVICE: &[(&[&str], &str)] = &[
    (
        &["signature expired", "signature not yet current"],
        "the clock of this machine is wrong, set it (signatures are valid for five minutes)",
    ),
    (
        &["signature we calculated does not match"],
        "check the secret access key, and that no proxy changes the path",
    ),
    (
        &["security token included in the request is expired"],
        "get new credentials, for example with `aws sso login`",
    ),
    (
        &["security token included in the request is invalid"],
        "check the access key, and the session token that belongs to it",
    ),
    (
        &["make sure your api key is valid"],
        "keys are valid in one region only, so check the region, too",
    ),
    (
        &["on-demand throughput isn"],
        "ask for an inference profile by putting an area in front of the id, such as `us.`, `eu.` or `global.`",
    ),
    (
        &["the provided model identifier is invalid", "specified model id"],
        "check the id, the region, and the access of the account to the model",
    ),
];

/// Adds what to do next to an error whose words do not contain it.
pub(super) fn advised(error: LlmError) -> LlmError {
    let words = error.message().to_ascii_lowercase();
    let is_about = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    match ADVICE.iter().find(|(phrases, _)| is_about(phrases)) {
        Some((_, advice)) => {
            // A refused signature is followed by what should have been signed.
            let words = error.message().split("\n\n").next().unwrap_or_default();
            let message = format!("{}: {advice}", words.trim_end().trim_end_matches('.'));
            error.with_message(message)
        }
        None => error,
    }
}

/// Returns the error of an exception in a stream.
pub(super) fn exception(failure: &FailureReader, message: &EventStreamMessage<'_>) -> LlmError {
    let code = message.header(":exception-type").unwrap_or_default();
    let payload: Value = serde_json::from_slice(message.payload).unwrap_or_default();
    let text = |name: &str| payload.get(name).and_then(Value::as_str).unwrap_or_default();
    let lower = text("message");
    let words = if lower.is_empty() { text("Message") } else { lower };
    let words = match (words, text("originalMessage")) {
        (words, "") => words.to_owned(),
        ("", original) => original.to_owned(),
        (words, original) if words.contains(original) => words.to_owned(),
        (words, original) => format!("{words}: {original}"),
    };
    reported(failure, code, &words)
}

/// Returns an error that is reported in the headers of a message, which has no payload.
pub(super) fn error(failure: &FailureReader, message: &EventStreamMessage<'_>) -> LlmError {
    let text = |name: &str| message.header(name).unwrap_or_default();
    reported(failure, text(":error-code"), text(":error-message"))
}

fn reported(failure: &FailureReader, code: &str, words: &str) -> LlmError {
    let words = if words.is_empty() { code } else { words };
    let body = json!({"type": code, "message": words}).to_string();
    advised(failure.read_with_fallback(body.as_bytes(), LlmErrorKind::Server))
}
