//! Messages, requests and replies as JSON: what is read is written and read again as the same.
#![no_main]

use std::fmt::Debug;

use agcore_chat::{ChatRequest, ChatResponse, Message};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(json: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(json) else {
        return;
    };
    let written = serde_json::to_string(&read).expect("what was read can be written");
    let again: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again, read, "{written}");
    let rewritten = serde_json::to_string(&again).expect("what was read can be written");
    assert_eq!(rewritten, written, "written twice");
}

fuzz_target!(|json: &[u8]| {
    check::<Message>(json);
    check::<Vec<Message>>(json);
    check::<ChatRequest>(json);
    check::<ChatResponse>(json);
});
