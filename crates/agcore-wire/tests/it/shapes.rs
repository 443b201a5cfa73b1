//! Helpers for the tests of models that do not chat.

use agcore_wire::{Close, LlmError, Operation, ReplyHead, Wire, WireRequest};
use serde_json::Value;

/// Decodes a reply, and checks that the result is the same in one read and byte by byte.
pub(crate) fn decode<O>(wire: &dyn Wire<O>, status: u16, body: &str, close: Close) -> Result<Vec<O::Item>, LlmError>
where
    O: Operation<Item: PartialEq + std::fmt::Debug>,
{
    let head = ReplyHead {
        status: http::StatusCode::from_u16(status).unwrap(),
        ..ReplyHead::default()
    };
    let read = |size: usize| {
        let (mut decoder, mut items) = (wire.decoder(&head), Vec::new());
        for bytes in body.as_bytes().chunks(size) {
            decoder.feed(bytes, &mut items)?;
        }
        decoder.finish(close, &mut items).map(|()| items)
    };
    let (whole, bytewise) = (read(body.len().max(1)), read(1));
    assert_eq!(whole.as_ref().ok(), bytewise.as_ref().ok());
    whole
}

/// Returns the body of a request as JSON.
pub(crate) fn json_body(request: &WireRequest) -> Value {
    assert_eq!(request.headers["content-type"], "application/json");
    serde_json::from_slice(&request.body).unwrap()
}
