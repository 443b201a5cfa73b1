//! The [UI message stream] of the Vercel AI SDK: the body that `useChat` sends, and its stream from the events of a run.
//!
//! ```
//! use agcore_agui::{InputLimits, Encoder, Run, TextMessage};
//! use agcore_ui_stream::{UiChatRequest, UiStream};
//!
//! let body = br#"{"id": "chat_1", "trigger": "submit-message", "messages": [
//!     {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
//! ]}"#;
//! let request = UiChatRequest::from_slice(body, &InputLimits::new())?;
//! let input = request.to_input("run_1", &InputLimits::new())?;
//! assert_eq!(input.newest_user_message().unwrap().message().unwrap().text(), "Hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read the request of a page | [`UiChatRequest`] |
//! | answer with a stream | [`UiStream`], [`HEADER`] |
//!
//! The crate needs no async runtime and builds for wasm32.
//!
//! [UI message stream]: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod request;
mod stream;

pub use request::UiChatRequest;
pub use stream::{UiStream, UiVersion};

/// The name and the value of the header of every stream.
pub const HEADER: (&str, &str) = ("x-vercel-ai-ui-message-stream", "v1");
