//! Messages, tools, requests, replies, token usage and events as plain data.
//!
//! ```
//! use agcore::chat::{ChatRequest, ChatResponse, Message, validate_messages};
//!
//! let request = ChatRequest::new([Message::system("Be brief."), Message::user("What is the capital of France?")])
//!     .with_temperature(0.0)
//!     .with_max_tokens(100);
//! validate_messages(&request.messages).unwrap();
//!
//! let reply = r#"{"choices": [{"message": {"role": "assistant", "content": "Paris."}, "finish_reason": "stop"}]}"#;
//! let response: ChatResponse = serde_json::from_str(reply)?;
//! assert_eq!(response.text(), "Paris.");
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! All types serialize to the JSON of the OpenAI Chat Completions API. Other APIs are translated from and to it.
//!
//! | to | use |
//! |---|---|
//! | write messages with text, images and files | [`Message`], [`ContentPart`] |
//! | set the parameters of a request | [`ChatRequest`] |
//! | read a reply | [`ChatResponse`], [`AssistantMessage`] |
//! | follow a turn | [`StreamEvent`] and its [`EventKind`] |
//! | count tokens and money | [`Usage`], [`PriceTable`] |
//! | answer questions of a suspended turn | [`Question`], [`Answer`] |
//!
//! These are the public items of the crate `agcore-chat`.

#[doc(inline)]
pub use agcore_chat::*;
