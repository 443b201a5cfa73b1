//! What every decoder promises: no bytes make it panic, any slicing gives the same reply or error, and a reply taken apart
//! folds to itself.

use agcore_chat::ChatResponse;
use agcore_llm::{
    delta::deltas_of,
    error::LlmError,
    fold::Fold,
    wire::{Chat, Close, ReplyHead, Wire},
};
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};

use crate::{Chance, slicings};

/// Holds a wire's decoder to its promises with these bytes, under one of the content types; gives the reply.
///
/// # Panics
/// When a promise is broken.
pub fn judge(wire: &dyn Wire<Chat>, types: &[&'static str], body: &[u8], chance: &mut Chance) -> ChatResponse {
    let close = *chance.pick(&[Close::Clean, Close::Reset]);
    let mut head = ReplyHead {
        status: *chance.pick(&[StatusCode::OK, StatusCode::OK, StatusCode::OK, StatusCode::BAD_REQUEST]),
        ..ReplyHead::default()
    };
    head.headers
        .insert(CONTENT_TYPE, HeaderValue::from_static(chance.pick::<&'static str>(types)));

    let [whole, bytewise, cut] = slicings(body);
    let expected = decode(wire, &head, close, &whole);
    assert_eq!(decode(wire, &head, close, &bytewise), expected, "byte by byte");
    assert_eq!(decode(wire, &head, close, &cut), expected, "cut");

    let (_, response) = expected;
    let mut again = Fold::new();
    for delta in deltas_of(response.clone()) {
        again.push(&delta);
    }
    assert_eq!(again.response(), response, "taken apart and folded again");
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
    let mut fed = Ok(());
    for read in reads {
        fed = decoder.feed(read, &mut deltas);
        if fed.is_err() || decoder.is_done() {
            break;
        }
    }
    let end = fed.and_then(|()| decoder.finish(close, &mut deltas));
    for delta in &deltas {
        fold.push(delta);
    }
    (end.map_err(|error| told(&error)), fold.response())
}

/// All that an error tells.
fn told(error: &LlmError) -> String {
    let fault = error.fault();
    assert!(!error.message().is_empty(), "an error without words");
    format!("{fault:?} {:?} {:?}", error.headers(), error.body_excerpt())
}
