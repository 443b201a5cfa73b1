//! Messages, requests and replies as JSON: what is read is written and read again as the same.
#![no_main]

use std::fmt::Debug;

use agcore_chat::{ChatRequest, ChatResponse, Message};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(json: &[u8], written_part: impl FnOnce(T) -> T) {
    let Ok(read) = serde_json::from_slice(json).map(written_part) else {
        return;
    };
    let written = serde_json::to_string(&read).expect("what was read can be written");
    let again: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again, read, "{written}");
    let rewritten = serde_json::to_string(&again).expect("what was read can be written");
    assert_eq!(rewritten, written, "written twice");
}

/// What is said of the choice of tools is written only together with tools.
fn without_idle_choice(mut request: ChatRequest) -> ChatRequest {
    if request.tools.is_empty() {
        (request.tool_choice, request.parallel_tool_calls) = (None, None);
    }
    request
}

fuzz_target!(|json: &[u8]| {
    check::<Message>(json, |read| read);
    check::<Vec<Message>>(json, |read| read);
    check(json, without_idle_choice);
    check::<ChatResponse>(json, |read| read);
});
