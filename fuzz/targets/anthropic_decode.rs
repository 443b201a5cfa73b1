//! The decoder of the Anthropic wire keeps its promises.
#![no_main]

use agcore_fuzz::{Chance, decoder::judge};
use agcore_llm::wire::anthropic::Anthropic;
use libfuzzer_sys::fuzz_target;

const TYPES: &[&str] = &["text/event-stream", "application/json", "text/html"];

fuzz_target!(|body: &[u8]| {
    let mut chance = Chance::of(body);
    let wire = Anthropic::new();
    judge(&wire, TYPES, body, &mut chance);
});
