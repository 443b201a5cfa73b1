//! Allocations of the streaming path, which are the same on every machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests may fail loudly"
)]

use agcore_llm::{
    dialect,
    wire::{Chat, Decoder, ReplyHead, Wire, openai_chat::OpenAiChat},
};
use http::HeaderValue;

/// How many chunks are measured, after the first ones have grown the buffers.
const CHUNKS: u64 = 1000;

fn decoder() -> Box<dyn Decoder<Chat>> {
    let mut head = ReplyHead::default();
    head.headers
        .insert("content-type", HeaderValue::from_static("text/event-stream"));
    Wire::<Chat>::decoder(&OpenAiChat::new(dialect::openai()), &head)
}

/// A chunk as OpenAI sends it, with this delta.
fn chunk(delta: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1763719200,\"model\":\"gpt-4o\",\
         \"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\",\"choices\":[{{\"index\":0,\"delta\":{delta},\
         \"logprobs\":null,\"finish_reason\":null}}],\"usage\":null,\"obfuscation\":\"abcdef\"}}\n\n"
    )
}

/// Allocations per chunk of a stream of such chunks, read in pieces of `reads` bytes; each yields one delta.
fn per_chunk(delta: &str, reads: usize) -> f64 {
    let (mut decoder, mut deltas) = (decoder(), Vec::with_capacity(64));
    let chunk = chunk(delta);
    let stream = chunk.repeat(usize::try_from(CHUNKS).unwrap());
    decoder.feed(chunk.as_bytes(), &mut deltas).unwrap();
    decoder.feed(chunk.as_bytes(), &mut deltas).unwrap();
    deltas.clear();
    let mut seen = 0;
    let info = allocation_counter::measure(|| {
        for read in stream.as_bytes().chunks(reads) {
            decoder.feed(read, &mut deltas).unwrap();
            seen += deltas.len() as u64;
            deltas.clear();
        }
    });
    assert_eq!(seen, CHUNKS, "each chunk tells one delta");
    info.count_total as f64 / CHUNKS as f64
}

#[track_caller]
fn check(delta: &str, most: f64) {
    let whole = chunk(delta).len();
    for reads in [whole, 4 * whole, 100, 4096] {
        let count = per_chunk(delta, reads);
        // Buffers for what is cut by reads grow a few times at the start.
        assert!(
            count <= most + 0.05,
            "{count} allocations for each chunk of {delta}, read by {reads} bytes"
        );
    }
}

#[test]
fn short_text_costs_nothing() {
    check(r#"{"content":" word"}"#, 0.1);
    check(
        r#"{"role":"assistant","content":"é🦀","refusal":null,"tool_calls":null}"#,
        0.1,
    );
    check(r#"{"content":null,"reasoning_content":" hm"}"#, 0.1);
}

#[test]
fn escaped_and_long_text_costs_a_little() {
    check(r#"{"content":"a\nb"}"#, 1.0);
    check(
        r#"{"content":"a text that is too long to be kept in place, as it comes in larger pieces"}"#,
        1.0,
    );
    check(
        r#"{"content":"a \"text\" that is too long to be kept in place, as it comes in larger pieces"}"#,
        3.0,
    );
}

#[test]
fn a_fragment_of_a_call_costs_a_little() {
    check(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"ci"}}]}"#, 3.0);
}
