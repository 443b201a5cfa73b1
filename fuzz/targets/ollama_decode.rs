//! The decoder of Ollama's wire keeps its promises.
#![no_main]

use agcore_fuzz::{Chance, decoder::judge};
use agcore_llm::wire::ollama::Ollama;
use libfuzzer_sys::fuzz_target;

const TYPES: &[&str] = &["application/x-ndjson", "application/json", "text/html"];

fuzz_target!(|body: &[u8]| {
    let mut chance = Chance::of(body);
    let wire = Ollama::new();
    judge(&wire, TYPES, body, &mut chance);
});
