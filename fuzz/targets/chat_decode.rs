//! The Chat Completions decoder upholds the invariants of decoders, in every dialect.
#![no_main]

use agcore_fuzz::{Choices, decoder::check_decoder};
use agcore_llm::{dialect, wire::openai_chat::OpenAiChat};
use libfuzzer_sys::fuzz_target;

const TYPES: &[&str] = &["text/event-stream", "application/json", "text/html"];

fuzz_target!(|body: &[u8]| {
    let mut choices = Choices::new(body);
    let wire = OpenAiChat::new(choices.pick(dialect::ALL)());
    check_decoder(&wire, TYPES, body, &mut choices);
});
