//! The server's side of the OpenAI APIs: requests of [Chat Completions] and [Responses], and answers from the events of runs.
//!
//! ```
//! use agcore_agui::{Encoder, Run, TextMessage};
//! use agcore_openai::{ChatAnswer, ChatCompletionRequest, RequestLimits, RunReader};
//!
//! let body = br#"{"model": "ada", "messages": [{"role": "user", "content": "Hello"}]}"#;
//! let request = ChatCompletionRequest::from_slice(body, &RequestLimits::new())?;
//!
//! // The log of the run that answers.
//! let mut encoder = Encoder::new("thread_1", "run_1");
//! let mut log = encoder.push(Run::started().into())?;
//! log.extend(encoder.push(TextMessage::new("m", "Good day").into())?);
//! log.extend(encoder.push(Run::finished().into())?);
//!
//! let (mut reader, mut answer) = (RunReader::new(), ChatAnswer::new("chatcmpl-1", request.model, "thread_1"));
//! for event in log.iter().flat_map(|event| reader.push(event)) {
//!     answer.push(&event);
//! }
//! assert_eq!(answer.to_value()["choices"][0]["message"]["content"], "Good day");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read the request of a client | [`ChatCompletionRequest`], [`ResponsesRequest`], [`RequestLimits`] |
//! | make a conversation of a client usable | [`settle_messages`] |
//! | read the events of a run | [`RunReader`], [`ReplyEvent`] |
//! | answer as a whole | [`ChatAnswer`], [`ResponseStream::response`] |
//! | answer with a stream | [`ChatStream`], [`ResponseStream`] |
//! | find the thread of a call or of a response | [`CallId`], [`ResponseId`] |
//! | list agents as models | [`model_list`] |
//! | report an error | [`ApiError`] |
//!
//! The crate needs no async runtime and builds for wasm32. Clients of these APIs are in agcore-wire.
//!
//! [Chat Completions]: https://platform.openai.com/docs/api-reference/chat
//! [Responses]: https://platform.openai.com/docs/api-reference/responses

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod ids;
mod request;
mod reply;
mod chat;
mod responses;

pub use chat::{ChatAnswer, ChatStream};
pub use error::{ApiError, ErrorType};
pub use ids::{CallId, ResponseId};
pub use reply::{Call, OpenQuestion, Outcome, ReplyEnd, ReplyEvent, RunReader};
pub use request::{ChatCompletionRequest, Conversation, Ending, RequestLimits, ResponsesRequest, settle_messages};
pub use responses::{ResponseFacts, ResponseStream};

use serde_json::{Value, json};

/// Returns an agent as a model.
///
/// ```
/// assert_eq!(agcore_openai::model("ada")["id"], "ada");
/// ```
pub fn model(name: &str) -> Value {
    // Nothing is known about the time of an agent.
    json!({"id": name, "object": "model", "created": 0, "owned_by": "agcore"})
}

/// Returns the answer of `GET /v1/models`.
pub fn model_list<'a, I: IntoIterator<Item = &'a str>>(names: I) -> Value {
    let models: Vec<Value> = names.into_iter().map(model).collect();
    json!({"object": "list", "data": models})
}
