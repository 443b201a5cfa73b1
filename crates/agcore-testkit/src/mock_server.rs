//! A model server on loopback that plays answers and faults over real HTTP.
//!
//! It speaks OpenAI Chat Completions, OpenAI Responses, Anthropic Messages and Ollama's own API, whole and streamed. It
//! knows nothing of agcore's other crates: it reads and writes raw JSON after the vendors' documents, and refuses what
//! the vendors would refuse, so it can judge any client.
//!
//! - What is replied comes from a [`Behaviour`]: a closure over the request, a [`Script`], [`demo_behaviour`], or
//!   [`Playground`] for hands.
//! - A [`Reply`] is an [`Answer`], an [`ApiError`] or raw bytes, with a pace and with [`Fault`]s.
//! - [`MockServer::requests`] tells what came in and what became of it. Tests wait for events, not for time:
//!   [`MockServer::wait_for_requests`], [`MockServer::wait_for_outcome`], [`Gate`].

// Data, from what is said to what is sent.
mod answer;
mod api;
mod api_error;
mod call;
mod chunking;
mod error_body;
mod error_shape;
mod event;
mod fault;
mod gate;
mod prompt;
mod transmission;
mod usage;
mod verdict;

// Pure doers.
mod embedding;
mod judge;
mod listing;
mod wire;

// A request, its reply, and who decides.
mod reply;
mod request;

mod behaviour;
mod compose;
mod decide;
mod demo;
mod options;
mod playground;
mod script;
mod script_file;

// The server.
mod closing;
mod deaf;
mod log;
mod player;
mod server;
mod service;
mod socket;
mod ticket;

pub use answer::{Answer, Finish};
pub use api::{Api, Operation};
pub use api_error::ApiError;
pub use behaviour::Behaviour;
pub use call::ToolCall;
pub use chunking::Chunking;
pub use deaf::DeafServer;
pub use demo::{Demo, demo_behaviour};
pub use embedding::embed;
pub use error_shape::ErrorShape;
pub use fault::{Ending, Fault, Hold, LineEnds, Point};
pub use gate::Gate;
pub use options::MockOptions;
pub use playground::Playground;
pub use prompt::{OfferedTool, Prompt, Role, Turn};
pub use reply::Reply;
pub use request::{Outcome, RecordedRequest};
pub use script::Script;
pub use script_file::{ScriptFileError, read_script};
pub use server::MockServer;
pub use usage::{TokenUsage, tokens_of};
pub use verdict::Mismatch;
