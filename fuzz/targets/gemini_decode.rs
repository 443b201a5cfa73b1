//! The Gemini decoder upholds the invariants of decoders.
#![no_main]

use agcore_fuzz::{Choices, decoder::check_decoder};
use agcore_llm::wire::gemini::Gemini;
use libfuzzer_sys::fuzz_target;

const TYPES: &[&str] = &["text/event-stream", "application/json", "text/html"];

fuzz_target!(|body: &[u8]| {
    let mut choices = Choices::new(body);
    let wire = Gemini::new();
    check_decoder(&wire, TYPES, body, &mut choices);
});
