//! Messages, requests and replies as JSON: everything that can be parsed survives a round trip.
#![no_main]

use std::fmt::Debug;

use agcore_chat::{ChatRequest, ChatResponse, Message};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(json: &[u8], normalize: impl FnOnce(T) -> T) {
    let Ok(read) = serde_json::from_slice(json).map(normalize) else {
        return;
    };
    let written = serde_json::to_string(&read).expect("a parsed value can be written");
    let reread: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(reread, read, "{written}");
    let rewritten = serde_json::to_string(&reread).expect("a parsed value can be written");
    assert_eq!(rewritten, written, "written twice");
}

/// Removes the tool choice of a request without tools, because it is not written.
fn without_unused_tool_choice(mut request: ChatRequest) -> ChatRequest {
    if request.tools.is_empty() {
        (request.tool_choice, request.parallel_tool_calls) = (None, None);
    }
    request
}

fuzz_target!(|json: &[u8]| {
    check::<Message>(json, |read| read);
    check::<Vec<Message>>(json, |read| read);
    check(json, without_unused_tool_choice);
    check::<ChatResponse>(json, |read| read);
});
