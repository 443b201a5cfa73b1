//! Random bytes and mutated replies decode alike in any slicing, and a reply that is split into deltas folds to itself.

use agcore_wire::{Close, LlmErrorKind, ReplyDelta, deltas_from_response};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    responses_support::{EVENTS, JSON, call, completed, event, folded, item, message, read, stream},
    sse::split,
};

/// Returns the deltas, and the kind and message of the error.
fn outcome(reads: &[&[u8]], is_stream: bool, close: Close) -> (Vec<ReplyDelta>, Option<(LlmErrorKind, String)>) {
    let (deltas, end) = read(if is_stream { EVENTS } else { JSON }, reads, close);
    let error = end.err().map(|error| (error.kind(), error.message().to_owned()));
    (deltas, error)
}

fn bodies() -> Vec<Vec<u8>> {
    let thought = json!({"id": "rs", "type": "reasoning", "encrypted_content": "E", "summary": [{"type": "summary_text", "text": "Hm"}]});
    let events = [
        item("added", 0, &thought),
        event(
            "reasoning_summary_text.delta",
            0,
            json!({"summary_index": 0, "delta": "H\u{e9}m\n"}),
        ),
        item("done", 0, &thought),
        event(
            "output_text.delta",
            1,
            json!({"item_id": "msg_1", "content_index": 0, "delta": "\u{1F980}"}),
        ),
        item("done", 1, &message("\u{1F980}")),
        item("added", 2, &call("1", "")),
        event("function_call_arguments.delta", 2, json!({"delta": "{\"a\":1}"})),
        item("done", 2, &call("1", "{\"a\":1}")),
        item("done", 3, &json!({"id": "ws", "type": "web_search_call"})),
        completed(json!([thought, message("\u{1F980}"), call("1", "{\"a\":1}")])),
    ];
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "x"}}});
    let whole = json!({"id": "r", "object": "response", "status": "completed", "output": [thought, message("Hi")],
                       "usage": {"input_tokens": 3, "output_tokens": 4}});
    vec![
        stream(&events).into_bytes(),
        stream(&events).replace('\n', "\r\n").into_bytes(),
        stream(&[events[3].clone(), failed]).into_bytes(),
        whole.to_string().into_bytes(),
    ]
}

/// Generates a body with some bytes replaced, removed, inserted or truncated.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
    (prop::sample::select(bodies()), prop::collection::vec(change, 0..6)).prop_map(|(mut body, changes)| {
        for (place, byte, how) in changes {
            let at = place.index(body.len().max(1)).min(body.len().saturating_sub(1));
            match how {
                _ if body.is_empty() => {}
                0 => body[at] = byte,
                1 => drop(body.remove(at)),
                2 => body.insert(at, byte),
                _ => body.truncate(at),
            }
        }
        body
    })
}

proptest! {
    #[test]
    fn decodes_any_bytes_alike_in_any_slicing(bytes: Vec<u8>, places: Vec<prop::sample::Index>, is_stream: bool) {
        let whole = outcome(&[&bytes], is_stream, Close::Clean);
        prop_assert_eq!(outcome(&split(&bytes, &places), is_stream, Close::Clean), whole);
    }

    #[test]
    fn decodes_mutated_replies_alike_in_any_slicing(
        bytes in mutated(),
        places: Vec<prop::sample::Index>,
        is_stream: bool,
        is_reset: bool,
    ) {
        let close = if is_reset { Close::Reset } else { Close::Clean };
        let whole = outcome(&[&bytes], is_stream, close);
        let response = folded(&whole.0);
        prop_assert_eq!(folded(&deltas_from_response(response.clone())), response);
        prop_assert_eq!(outcome(&split(&bytes, &places), is_stream, close), whole);
    }
}
