//! The reader of errors: whatever status, headers and body, there is an error with words, and no key of the body in it.
//!
//! The input looks as HTTP does: a status, headers, an empty line, the body.
#![no_main]

use std::time::Duration;

use agcore_fuzz::Chance;
use agcore_llm::wire::{ReplyHead, failure::read_failure};
use http::{HeaderName, HeaderValue, StatusCode};
use libfuzzer_sys::fuzz_target;

const KEYS: &[&str] = &[
    "sk-proj-Q0Zz9sVwX4m1K8b2N7c3T6d5R",
    "gsk_Q0Zz9sVwX4m1K8b2N7c3T6d5R",
    "AIzaQ0Zz9sVwX4m1K8b2N7c3T6d5R",
    "Bearer Q0Zz9sVwX4m1K8b2N7c3T6d5R",
];

/// What all of them end with; long enough that none of it may be shown.
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

/// Whether a key that begins here is a word of its own: behind no letter or digit, but for an escape of JSON.
fn begins_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}

/// The body with a key at one of the places where one may stand.
fn plant(body: &[u8]) -> Vec<u8> {
    let mut chance = Chance::of(body);
    let places: Vec<usize> = (0..=body.len()).filter(|at| begins_word(&body[..*at])).collect();
    let at = *chance.pick(&places);
    [&body[..at], chance.pick(KEYS).as_bytes(), &body[at..]].concat()
}

fuzz_target!(|input: &[u8]| {
    // Comparisons teach the fuzzer the secret, but without a key's beginning it is a word.
    if input.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()) {
        return;
    }
    let border = input.windows(2).position(|pair| pair == b"\n\n").unwrap_or(input.len());
    let head = read_head(&input[..border]);
    let body = plant(input.get(border + 2..).unwrap_or_default());
    let error = read_failure(&head, &body);

    assert!(!error.message().trim().is_empty(), "an error without words");
    let shown = format!("{error} {error:?} {} {:?}", error.chain(), error.fault());
    assert!(!shown.contains(SECRET), "the error shows the key: {shown}");
    let excerpt = error.body_excerpt().unwrap_or_default();
    assert!(!excerpt.contains(SECRET), "the excerpt shows the key: {excerpt}");
    assert!(
        error
            .retry_after()
            .is_none_or(|wait| wait < Duration::from_secs(u64::from(u32::MAX))),
        "a wait without end"
    );
});
