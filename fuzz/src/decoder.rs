//! The invariants of every decoder: it never panics, the result does not depend on how the bytes are split into reads, and
//! the deltas of a decoded reply fold into the same reply.

use agcore_chat::ChatResponse;
use agcore_llm::{
    Fold, LlmError,
    wire::{Chat, Close, ReplyHead, Wire, deltas_from_response},
};
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};

use crate::{Choices, slicings};

/// Checks the invariants of a wire's decoder for these bytes, with one of the content types, and returns the reply.
///
/// # Panics
/// Panics if an invariant is violated.
pub fn check_decoder(
    wire: &dyn Wire<Chat>,
    types: &[&'static str],
    body: &[u8],
    choices: &mut Choices,
) -> ChatResponse {
    let close = *choices.pick(&[Close::Clean, Close::Reset]);
    let mut head = ReplyHead {
        status: *choices.pick(&[StatusCode::OK, StatusCode::OK, StatusCode::OK, StatusCode::BAD_REQUEST]),
        ..ReplyHead::default()
    };
    head.headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(choices.pick::<&'static str>(types)),
    );

    let [whole, bytewise, irregular] = slicings(body);
    let expected = decode(wire, &head, close, &whole);
    assert_eq!(decode(wire, &head, close, &bytewise), expected, "byte by byte");
    assert_eq!(decode(wire, &head, close, &irregular), expected, "in irregular reads");

    let (_, response) = expected;
    let mut refolded = Fold::new();
    for delta in deltas_from_response(response.clone()) {
        refolded.push(&delta);
    }
    assert_eq!(refolded.response(), response, "deltas of the response, folded again");
    response
}

fn decode(
    wire: &dyn Wire<Chat>,
    head: &ReplyHead,
    close: Close,
    reads: &[&[u8]],
) -> (Result<(), String>, ChatResponse) {
    let mut decoder = wire.decoder(head);
    let (mut fold, mut deltas) = (Fold::new(), Vec::new());
    let mut result = Ok(());
    for read in reads {
        result = decoder.feed(read, &mut deltas);
        if result.is_err() || decoder.is_done() {
            break;
        }
    }
    let result = result.and_then(|()| decoder.finish(close, &mut deltas));
    for delta in &deltas {
        fold.push(delta);
    }
    (result.map_err(|error| describe(&error)), fold.response())
}

/// Formats everything that an error contains, for comparison.
fn describe(error: &LlmError) -> String {
    let fault = error.fault();
    assert!(!error.message().is_empty(), "an error without a message");
    format!("{fault:?} {:?} {:?}", error.headers(), error.body_excerpt())
}
