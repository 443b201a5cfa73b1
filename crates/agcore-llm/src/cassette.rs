//! Cassettes: exchanges with a model, recorded once and played again without a network.
//!
//! [`RecordingProvider`] wraps any provider and writes what goes through it; [`ReplayProvider`] answers from what was
//! written. Pieces of a reply come again as they came, with the same boundaries between them, so that a whole session of an
//! agent can be played again, byte by byte.
//!
//! ```
//! use std::sync::Arc;
//! use agcore_chat::{ChatRequest, ChatResponse, Message};
//! use agcore_llm::{LlmProviderExt, SystemClock, cassette::{Cassette, CassetteWriter, RecordingProvider, ReplayProvider, Scrub}, provider_fn};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let model = provider_fn(|_| async { Ok(ChatResponse::from_text("Paris, says agent-key-123.")) });
//! let request = ChatRequest::new([Message::user("Capital of France?")]);
//!
//! // Once, with the real model. Here into memory; a `std::fs::File` is as good.
//! let writer = Arc::new(CassetteWriter::new(Vec::new()));
//! let recorder = RecordingProvider::new(model, Arc::clone(&writer), Arc::new(SystemClock::new()))
//!     .with_scrub(Scrub::new().with_secret("agent-key-123"));
//! recorder.chat(request.clone()).await.unwrap();
//! assert!(recorder.problems().is_empty());
//!
//! // Ever after, without it.
//! let bytes = writer.with_inner(|bytes| bytes.clone());
//! let replay = ReplayProvider::new(Cassette::parse(&bytes)?.into_whole()?);
//! assert_eq!(replay.chat(request).await.unwrap().text(), "Paris, says [redacted].");
//! replay.check_done()?;
//!
//! // What was not recorded is an error that says what differs.
//! let other = replay.chat(ChatRequest::new([Message::user("Capital of Spain?")])).await.unwrap_err();
//! assert!(other.message().contains(r#"messages[0].content: recorded "Capital of France?", now "Capital of Spain?""#));
//! # Ok::<(), agcore_llm::cassette::CassetteError>(())
//! # }).unwrap();
//! ```
//!
//! # The file
//!
//! JSON documents, one after the other: a header `{"agcore_cassette":1}`, then one document for each exchange, a line each
//! unless [`CassetteWriter::indented`] was asked for. A document begins at a line that begins with `{`; so a file that was
//! cut in the middle loses only its last exchange, and one that was written to twice can be read.
//!
//! | member | what |
//! |---|---|
//! | `call` | which call of its recording, from 1, in the order in which they began |
//! | `provider`, `model` | whom it was made with, and the model asked when the request names none |
//! | `stream` | whether a streamed reply was asked for |
//! | `request` | the request's canonical JSON |
//! | `headers` | its own HTTP headers, if any |
//! | `chunks` | the reply: `{"ms", "items"}`, what came together and how many milliseconds after the request |
//! | `end` | `"ok"`, `{"error": …}`, `"cut"` (no end came), `"dropped"` (the caller stopped listening) |
//! | `ms` | when the end came |
//!
//! An item is an object of one member, beside `choice` where that is not 0: `text`, `reasoning`, `refusal`, `call`, `seal`,
//! `block_end`, `block`, `start`, `usage`, `finish`, `restart`, `member`, and the notices `retry`, `restarted`, `answered_by`,
//! `waiting`.
//!
//! **Versions.** Members that a reader does not know are passed over; an item, block or end of a kind that it does not know
//! makes the exchange a damaged one, as it could not be played exactly. A header of a newer version is refused.
//!
//! **Secrets.** See [`Scrub`] for what is taken out and what is not. Look over a cassette before it is shared.

mod millis;
mod path;
mod block;
mod fragment;
mod item;
mod ending;
mod exchange;
mod document;
mod scrub;
mod sink;
mod record;
mod difference;
mod book;
mod replay;

pub use self::{
    book::Matching,
    document::{Cassette, CassetteError, Damage},
    ending::{Ending, RecordedError},
    exchange::{Chunk, Exchange},
    item::RecordedItem,
    record::{RecordingProblem, RecordingProvider},
    replay::ReplayProvider,
    scrub::Scrub,
    sink::{CassetteBuffer, CassetteSink, CassetteWriter},
};
