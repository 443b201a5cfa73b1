//! [`ServerError`]: why a server cannot be built or cannot serve.

use std::net::SocketAddr;

use agcore_flow::FlowError;
use agcore_session::{Holder, SessionError};

/// The reason a server cannot be built or cannot serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// No agent was added.
    #[error("the server has no agent; add one with `with_agent`")]
    NoAgent,
    /// Two agents have the same name.
    #[error("two agents are named `{0}`; choose another name for one of them")]
    DuplicateAgent(String),
    /// A flow cannot be built.
    #[error("the flow `{0}` cannot be served")]
    Flow(String, #[source] FlowError),
    /// The server has flows, but no store of checkpoints.
    #[error(
        "the server has flows, but no store of their checkpoints; set it with `with_checkpoints`, usually to the store of `with_store`"
    )]
    NoCheckpoints,
    /// The server has no store.
    #[error("the server has no store; set it with `with_store`, for example to a file of SQLite")]
    NoStore,
    /// Other machines can reach the address, and no client would have to prove who it is.
    #[error(
        "other machines can reach {0}, so clients must prove who they are; add tokens or a trusted proxy, or listen on 127.0.0.1"
    )]
    OpenAddress(SocketAddr),
    /// The socket cannot be used.
    #[error("the address of the server cannot be used")]
    Listener(#[source] std::io::Error),
    /// Another server uses the store.
    #[error("another server uses the database: {0}; stop it first, or let this one wait for its end")]
    InUse(Holder),
    /// Another server has taken over the store, because this one had lost its connection.
    #[error("another server has taken over the database; its runs continue there")]
    TakenOver,
    /// The server does not execute runs of a shared store.
    #[error("the server executes no runs of a shared store; set `with_sharing`, with the role `Worker` or `All`")]
    NotShared,
    /// The runs of other processes would be cancelled.
    #[error(
        "the runs of a shared store cannot be cancelled at the start: they may be those of other processes; start a server alone for that"
    )]
    CancelShared,
    /// A host to which messages of webhooks may be sent is not written as one.
    #[error("{0:?} is not a host; write it like hooks.internal, 10.0.0.5:8080 or [fd00::5]:8080")]
    WebhookHost(String),
    /// Two hooks have the same id.
    #[error("two hooks have the id `{0}`; choose another id for one of them")]
    DuplicateHook(String),
    /// A hook cannot be used: its id and the reason.
    #[error("the hook `{0}` cannot be used: {1}")]
    Hook(String, String),
    /// The store cannot be read.
    #[error("the runs of the last process cannot be read")]
    Store(#[source] SessionError),
}
