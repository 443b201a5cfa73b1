//! The framings of streams: how the bytes of a reply are split into events, lines or messages.

pub mod sse;
pub mod ndjson;
#[cfg(feature = "bedrock")]
pub mod event_stream;
