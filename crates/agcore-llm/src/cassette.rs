//! Cassettes: exchanges with a model that are recorded once and replayed without a network.
//!
//! [`RecordingProvider`] wraps any provider and writes its exchanges; [`ReplayProvider`] answers from what was written.
//! Replies are replayed with the original chunk boundaries, so a whole session of an agent can be replayed byte for
//! byte.
//!
//! ```
//! use std::sync::Arc;
//! use agcore_chat::{ChatRequest, ChatResponse, Message};
//! use agcore_llm::{
//!     LlmProviderExt, SystemClock,
//!     cassette::{Cassette, CassetteWriter, RecordingProvider, ReplayProvider, Scrub},
//!     provider_fn,
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let model = provider_fn(|_| async { Ok(ChatResponse::from_text("Paris, says agent-key-123.")) });
//! let request = ChatRequest::new([Message::user("Capital of France?")]);
//!
//! // Record once, with the real model. This writes to memory; a `std::fs::File` works as well.
//! let writer = Arc::new(CassetteWriter::new(Vec::new()));
//! let recorder = RecordingProvider::new(model, Arc::clone(&writer), Arc::new(SystemClock::new()))
//!     .with_scrub(Scrub::new().with_secret("agent-key-123"));
//! recorder.chat(request.clone()).await.unwrap();
//! assert!(recorder.problems().is_empty());
//!
//! // Replay any number of times, without the model.
//! let bytes = writer.with_inner(|bytes| bytes.clone());
//! let replay = ReplayProvider::new(Cassette::parse(&bytes)?.into_intact()?);
//! assert_eq!(replay.chat(request).await.unwrap().text(), "Paris, says [redacted].");
//! replay.check_done()?;
//!
//! // A request that was not recorded is an error that lists the differences.
//! let other = replay.chat(ChatRequest::new([Message::user("Capital of Spain?")])).await.unwrap_err();
//! assert!(other.message().contains(r#"messages[0].content: recorded "Capital of France?", now "Capital of Spain?""#));
//! # Ok::<(), agcore_llm::cassette::CassetteError>(())
//! # }).unwrap();
//! ```
//!
//! # File format
//!
//! A cassette is a sequence of JSON documents: a header `{"agcore_cassette":1}`, then one document for each exchange,
//! on one line unless [`CassetteWriter::with_indent`] is set. A document starts at a line that starts with `{`. So a
//! truncated file only loses its last exchange, and a file that several recordings were appended to can be read.
//!
//! | member | content |
//! |---|---|
//! | `call` | the number of the call in its recording, from 1, in the order in which the calls started |
//! | `provider`, `model` | the name of the provider, and the model that it uses if the request names none |
//! | `stream` | whether a streamed reply was requested |
//! | `request` | the canonical JSON of the request |
//! | `headers` | the HTTP headers of the request, if any |
//! | `chunks` | the reply: `{"ms", "items"}` for items that arrived together, `ms` milliseconds after the request |
//! | `end` | `"ok"`, `{"error": …}`, `"cut"` (the stream stopped), `"dropped"` (the caller stopped reading) |
//! | `ms` | the time of the end, in milliseconds since the request |
//!
//! An item is an object with one member, and `choice` unless that is 0: `text`, `reasoning`, `refusal`, `call`, `seal`,
//! `block_end`, `block`, `item`, `start`, `usage`, `finish`, `restart`, `member`, or the notices `retry`, `restarted`,
//! `answered_by`, `waiting`.
//!
//! **Versions.** Unknown members are ignored. An item, block or end of an unknown kind makes its exchange a damaged
//! one, because it could not be replayed exactly. A header with a newer version is an error.
//!
//! **Secrets.** See [`Scrub`] for what is removed and what is not. Review a cassette before you share it.

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
mod matcher;
mod replay;
mod report;

pub use self::{
    document::{Cassette, CassetteError, DamagedPart},
    ending::{Ending, RecordedError},
    exchange::{Chunk, Exchange},
    item::RecordedItem,
    matcher::Matching,
    record::{RecordingProblem, RecordingProvider},
    replay::ReplayProvider,
    report::{CassetteReport, DamageReport, ErrorReport, ExchangeReport},
    scrub::Scrub,
    sink::{CassetteBuffer, CassetteSink, CassetteWriter},
};
