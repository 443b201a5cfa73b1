//! Sessions: stores of what agents did and answered, journals, checkpoints, and conversations that survive the process.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore::{
//!     Message,
//!     chat::{Actor, SystemClock},
//!     session::{ConversationMemory, InMemoryJournal},
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let (journal, clock) = (Arc::new(InMemoryJournal::new()), Arc::new(SystemClock::new()));
//! let mut memory = ConversationMemory::open(journal, clock, &Actor::user("ann"), "tea").await?;
//! memory.push(Message::user("Which tea is green?")).await?;
//! assert_eq!(memory.messages().len(), 1);
//! # Ok::<(), agcore::session::SessionError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | keep sessions with messages, events, runs, tool calls and approvals | [`SessionStore`] |
//! | find sessions, messages and open questions | [`SessionFilter`], [`MessageFilter`], [`ApprovalFilter`] |
//! | sum up what a session costs | [`CostTotals`] |
//! | remove old sessions, runs and events, and keep the bill | [`Retention`] |
//! | save the state of a run after its steps | [`CheckpointStore`] |
//! | keep a log that several writers append to | [`Journal`] |
//! | keep the messages of a conversation | [`ConversationMemory`] |
//! | keep secrets out of a store | [`Redacted`] |
//!
//! [`InMemorySessionStore`] and [`InMemoryJournal`] keep everything in the memory of the process. The module `store` contains
//! databases. These are the public items of the crate `agcore-session`.

#[doc(inline)]
pub use agcore_session::*;
