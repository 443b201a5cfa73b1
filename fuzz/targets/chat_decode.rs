//! The decoder of the chat wire keeps its promises, in every dialect.
#![no_main]

use agcore_fuzz::{Chance, decoder::judge};
use agcore_llm::{dialect, wire::openai_chat::OpenAiChat};
use libfuzzer_sys::fuzz_target;

const TYPES: &[&str] = &["text/event-stream", "application/json", "text/html"];

fuzz_target!(|body: &[u8]| {
    let mut chance = Chance::of(body);
    let wire = OpenAiChat::new(chance.pick(dialect::ALL)());
    judge(&wire, TYPES, body, &mut chance);
});
