//! The error reader: for any status, headers and body, the error has a message and does not contain a key of the body.
//!
//! The input has the form of an HTTP reply: a status, headers, an empty line, the body.
#![no_main]

use std::time::Duration;

use agcore_fuzz::Choices;
use agcore_llm::wire::{ReplyHead, failure::read_failure};
use http::{HeaderName, HeaderValue, StatusCode};
use libfuzzer_sys::fuzz_target;

const KEYS: &[&str] = &[
    "sk-proj-Q0Zz9sVwX4m1K8b2N7c3T6d5R",
    "gsk_Q0Zz9sVwX4m1K8b2N7c3T6d5R",
    "AIzaQ0Zz9sVwX4m1K8b2N7c3T6d5R",
    "Bearer Q0Zz9sVwX4m1K8b2N7c3T6d5R",
];

/// The end of all keys. It is long enough that no part of it may be shown.
const SECRET: &str = "Q0Zz9sVwX4m1K8b2N7c3T6d5R";

fn read_head(head: &[u8]) -> ReplyHead {
    let mut lines = head.split(|byte| *byte == b'\n');
    let status = lines.next().and_then(|line| StatusCode::from_bytes(line).ok());
    let mut reply = ReplyHead {
        status: status.unwrap_or(StatusCode::OK),
        ..ReplyHead::default()
    };
    for line in lines {
        let mut halves = line.splitn(2, |byte| *byte == b':');
        let name = halves.next().and_then(|name| HeaderName::from_bytes(name).ok());
        let value = halves
            .next()
            .and_then(|value| HeaderValue::from_bytes(value.trim_ascii()).ok());
        if let (Some(name), Some(value)) = (name, value) {
            reply.headers.append(name, value);
        }
    }
    reply
}

/// Returns whether a key at this position starts a word: it must not follow a letter or digit, except for a JSON escape.
fn starts_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}

/// Inserts a key at one of the positions where a word may start.
fn insert_key(body: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(body);
    let positions: Vec<usize> = (0..=body.len()).filter(|at| starts_word(&body[..*at])).collect();
    let position = *choices.pick(&positions);
    [&body[..position], choices.pick(KEYS).as_bytes(), &body[position..]].concat()
}

fuzz_target!(|input: &[u8]| {
    // The fuzzer learns the secret from comparisons, but without the start of a key it is an ordinary word.
    if input.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()) {
        return;
    }
    let head_end = input.windows(2).position(|pair| pair == b"\n\n").unwrap_or(input.len());
    let head = read_head(&input[..head_end]);
    let body = insert_key(input.get(head_end + 2..).unwrap_or_default());
    let error = read_failure(&head, &body);

    assert!(!error.message().trim().is_empty(), "an error without a message");
    let shown = format!("{error} {error:?} {} {:?}", error.chain(), error.fault());
    assert!(!shown.contains(SECRET), "the error contains the key: {shown}");
    let excerpt = error.body_excerpt().unwrap_or_default();
    assert!(!excerpt.contains(SECRET), "the excerpt contains the key: {excerpt}");
    assert!(
        error
            .retry_after()
            .is_none_or(|wait| wait < Duration::from_secs(u64::from(u32::MAX))),
        "an excessive delay"
    );
});
