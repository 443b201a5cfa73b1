//! The persistence contracts of sessions: what an agent did and answered, who decided its questions, and where its runs are. Stores
//! that keep everything in the memory of the process implement them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_session::{
//!     Commit, InMemorySessionStore, MessageFilter, MessageRole, NewMessage, NewSession, SessionReader, SessionWriter,
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = InMemorySessionStore::new(Arc::new(SystemClock::new()));
//! let session = store.create(NewSession::new("tea")).await?;
//! let commit = Commit::new().with_message(NewMessage::new("m1", MessageRole::User, "Which tea is green?"));
//! store.commit("local", "tea", session.end, commit).await?;
//! assert_eq!(store.messages("local", "tea", &MessageFilter::new()).await?.len(), 1);
//! # Ok::<(), agcore_session::SessionError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | keep sessions with messages, events, runs, tool calls and approvals | [`SessionStore`]: a [`SessionReader`], a [`SessionReports`], a [`SessionWriter`] and a [`SessionRetention`] |
//! | change what is written to a store | [`StoreLayer`] |
//! | write all changes of a session at once | [`Commit`] |
//! | find sessions, messages, events, runs and open questions | [`SessionFilter`], [`MessageFilter`], [`EventFilter`], [`RunFilter`], [`ApprovalFilter`] |
//! | drive a session alone | [`Hold`] |
//! | share runs among workers | [`RunLeases`], [`Lease`], [`Fence`] |
//! | look after tenants, workers and dead letters | [`RunAdministration`] |
//! | write only while the lease of a run holds | [`Fenced`] |
//! | limit what tenants and users may use, over all processes | [`quota`] |
//! | sum up what messages cost | [`CostTotals`] |
//! | remove old sessions, runs and events, and keep the bill | [`Retention`] |
//! | save the state of a run after its steps | [`CheckpointStore`] |
//! | keep a log that several writers append to | [`Journal`] |
//! | keep the messages of a conversation without a session store | [`ConversationMemory`] |
//! | keep secrets out of a store | [`Redacted`] |
//!
//! `InMemoryJournal` and `InMemorySessionStore` (feature `in-memory`) implement the contracts for tests and short-lived programs.
//! The crate `agcore-store` implements them for databases.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `in-memory` (default) | Stores that keep everything in the memory of the process. |
//! | `patch` | `DocumentPatch`: changes of documents as JSON Patch. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod hold;
mod run_scope;
mod error;
mod run_status;
mod lease;
mod journal;
mod checkpoint;
mod session;
mod fenced;
mod conversation;
mod redacted;
pub mod quota;

pub use checkpoint::{Checkpoint, CheckpointStore, NewCheckpoint, RunKey};
pub use conversation::{ConversationMemory, ConversationSettings, ConversationStrategy, conversations_of};
pub use error::{SessionError, SessionErrorKind};
pub use fenced::Fenced;
pub use hold::{Hold, HoldGuard, Holder};
#[cfg(feature = "in-memory")]
pub use journal::InMemoryJournal;
pub use journal::{Entry, Journal, Record};
pub use lease::{
    CancelRequest, ClaimCandidate, ClaimRequest, Claims, DeadLetter, DeadLetterCursor, DeadLetterFilter, Fence,
    HeldRun, Lease, LeaseState, Release, ReleaseReason, Renewal, RunCounts, RunLimits, RunTurn, TenantLoad, TenantRuns,
    TenantShare, Worker, WorkerReport,
};
pub use run_scope::RunScope;
pub use run_status::RunStatus;
#[cfg(feature = "patch")]
pub use session::DocumentPatch;
#[cfg(feature = "in-memory")]
pub use session::InMemorySessionStore;
pub use session::{
    Approval, ApprovalChange, ApprovalCursor, ApprovalFilter, ApprovalStatus, BillPlace, BilledMessage, Billing,
    CallChange, CallStatus, Commit, Committed, CostEntry, CostTotals, DocumentChange, EventData, EventFilter,
    ListedRun, MessageFilter, MessageMetadata, MessagePart, MessageRole, NewApproval, NewEvent, NewMessage, NewSession,
    Pruned, Retention, Run, RunAdministration, RunChange, RunCursor, RunFilter, RunLeases, RunListFilter, RunProgress,
    Session, SessionCursor, SessionDocument, SessionEvents, SessionFilter, SessionOrigin, SessionReader,
    SessionReports, SessionRetention, SessionState, SessionStatus, SessionStore, SessionWriter, SpendingCursor,
    SpendingFilter, StoreLayer, StoredCall, StoredEvent, StoredMessage, Visibility, stream_of, title_of,
};

#[doc(no_inline)]
pub use agcore_chat::{Actor, Clock, Money, Timestamp, TimestampError, Usage, id, redact::Redacted};
