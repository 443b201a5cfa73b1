//! The cache of marked prefixes.

use agcore_testkit::mock_server::{Api, MockOptions, MockServer, PromptCache, RecordedRequest, Reply};
use serde_json::{Value, json};

use super::client::{post, with_options};

/// Returns a block of 40 tokens or a bit more.
fn block(text: &str, is_marked: bool) -> Value {
    let mut block = json!({ "type": "text", "text": text.repeat(140 / text.len()) });
    if is_marked {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
    block
}

fn body(blocks: &[Value]) -> Value {
    json!({ "model": "m", "max_tokens": 10, "messages": [{ "role": "user", "content": blocks }] })
}

/// Sends bodies to one server. Returns what each reply read from and wrote to the cache.
async fn counts(bodies: &[Value]) -> Vec<(u64, u64)> {
    let server = MockServer::start(PromptCache::new(|_: &RecordedRequest| Reply::text("ok")))
        .await
        .unwrap();
    let mut counts = Vec::new();
    for body in bodies {
        let usage = post(&server, &Api::Anthropic.path("/v1"), body).await.json()["usage"].clone();
        let count = |name: &str| usage[name].as_u64().unwrap();
        counts.push((count("cache_read_input_tokens"), count("cache_creation_input_tokens")));
    }
    counts
}

#[tokio::test]
async fn a_marked_prefix_is_written_once_and_read_later() {
    let first = body(&[block("a", true)]);
    let longer = body(&[block("a", false), block("b", true)]);
    let unmarked = body(&[block("a", false)]);
    let counts = counts(&[first.clone(), first, longer.clone(), longer, unmarked]).await;
    let one = counts[0].1;
    assert!(one > 30);
    assert_eq!(counts, [(0, one), (one, 0), (one, one), (2 * one, 0), (0, 0)]);
}

#[tokio::test]
async fn a_change_before_the_mark_misses() {
    let first = body(&[block("a", true), block("b", true)]);
    let other = body(&[block("x", true), block("b", true)]);
    let mut forced = first.clone();
    forced["tools"] = json!([{ "name": "f", "input_schema": { "type": "object" } }]);
    let mut chosen = forced.clone();
    chosen["tool_choice"] = json!({ "type": "none" });
    let counts = counts(&[first, other, forced.clone(), forced, chosen]).await;
    let reads: Vec<bool> = counts.iter().map(|(read, _)| *read > 0).collect();
    assert_eq!(reads, [false, false, false, true, false], "{counts:?}");
}

#[tokio::test]
async fn a_prefix_is_found_up_to_nineteen_blocks_before_a_mark() {
    for (more, is_found) in [(19, true), (20, false)] {
        let mut blocks = vec![block("a", false)];
        blocks.extend((0..more).map(|at| block("b", at + 1 == more)));
        let counts = counts(&[body(&[block("a", true)]), body(&blocks)]).await;
        assert_eq!(counts[1].0 > 0, is_found, "{more} blocks later");
    }
}

#[tokio::test]
async fn invalid_marks_are_rejected() {
    let server = with_options(MockOptions::new()).await;
    let check = |blocks: Vec<Value>| {
        let server = &server;
        async move { post(server, &Api::Anthropic.path("/v1"), &body(&blocks)).await.status }
    };
    let marked = |number: usize| -> Vec<Value> { (0..number).map(|_| block("a", true)).collect() };
    assert_eq!(check(marked(4)).await, 200);
    assert_eq!(check(marked(5)).await, 400);
    let thinking = json!({ "type": "thinking", "thinking": "Hm", "cache_control": { "type": "ephemeral" } });
    assert_eq!(check(vec![thinking, block("a", false)]).await, 400);
}
