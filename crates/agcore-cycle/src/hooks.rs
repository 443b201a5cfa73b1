//! [`Hook`]: the application's own code at the edges of model calls, tool calls and turns. The place for guardrails.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::ChatResponse;
//! use agcore_cycle::{CycleErrorKind, Hook, HookContext, Hooks, LlmCycle, TurnVerdict};
//! use agcore_llm::{SystemClock, provider_fn};
//!
//! /// Lets nobody hand in a private key.
//! struct NoPrivateKeys;
//!
//! #[async_trait::async_trait]
//! impl Hook for NoPrivateKeys {
//!     async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
//!         let is_key = |text: &str| text.contains("PRIVATE KEY-----");
//!         match context.input.iter().any(|message| is_key(&message.text())) {
//!             true => TurnVerdict::Block("a private key was handed in".to_owned()),
//!             false => TurnVerdict::Continue,
//!         }
//!     }
//!
//!     fn fails_closed(&self) -> bool {
//!         true
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hello.")) });
//! let hooks = Hooks::new([Arc::new(NoPrivateKeys) as Arc<dyn Hook>]);
//! let mut cycle = LlmCycle::new(provider, SystemClock::new()).with_hooks(hooks);
//!
//! assert_eq!(cycle.turn("Hello").await.unwrap().text(), "Hello.");
//! let error = cycle.turn("-----BEGIN PRIVATE KEY----- MIGH").await.unwrap_err();
//! assert_eq!(error.kind(), CycleErrorKind::HookBlocked);
//! # });
//! ```
//!
//! # Points
//!
//! | point | may | told |
//! |---|---|---|
//! | [`turn_start`](Hook::turn_start) | block | once for each turn, with its input |
//! | [`pre_request`](Hook::pre_request) | replace, block | before each call of the model |
//! | [`post_request`](Hook::post_request), [`on_error`](Hook::on_error) | | exactly one of the two ends an attempt |
//! | [`on_retry`](Hook::on_retry) | | before each further attempt |
//! | [`pre_tool`](Hook::pre_tool) | replace, block | before each call of a tool |
//! | [`post_tool`](Hook::post_tool) | replace | after each call that ran |
//! | [`turn_end`](Hook::turn_end) | | once for each turn that began, however it ended |
//! | [`plan_step`](Hook::plan_step) | | after each step of a plan |
//!
//! Hooks run in the order of registration, before and after alike: each sees what the ones before it left.
//!
//! # When a hook fails
//!
//! A hook that panics is logged and passed over. So is one that takes longer than its [`timeout`](Hook::timeout) or the
//! [`Hooks`]' own. Neither takes the run down, but a hook that [`fails_closed`](Hook::fails_closed) blocks what it was
//! asked about: the turn does not begin, the request is not sent, the tool does not run, its result is not shown.
//!
//! A hook that hangs does not hang the turn: the turn's token and its budgets of time end a question to a hook at once, and
//! the turn with it. Hooks that are only told of something have [`GRACE`] to come to an end after that, so that the end of
//! a cancelled turn can still be written down. A hook that blocks its thread cannot be ended by anybody.

mod verdict;
mod context;
mod hook;
mod bounds;
mod runner;

pub use bounds::{GRACE, HookBounds, HookStop};
pub use context::{HookContext, PlanStepEnd, RequestPurpose};
pub use hook::Hook;
pub use runner::Hooks;
pub use verdict::{RequestVerdict, ResultVerdict, ToolVerdict, TurnVerdict};
