//! Hooks: the application's own code around model calls, tool calls and turns. The place for guardrails.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::ChatResponse;
//! use agcore_cycle::{CycleErrorKind, Hook, HookContext, Hooks, LlmCycle, TurnVerdict};
//! use agcore_llm::{SystemClock, provider_fn};
//!
//! /// Blocks turns whose input contains a private key.
//! struct NoPrivateKeys;
//!
//! #[async_trait::async_trait]
//! impl Hook for NoPrivateKeys {
//!     async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
//!         let is_key = |text: &str| text.contains("PRIVATE KEY-----");
//!         match context.input.iter().any(|message| is_key(&message.text())) {
//!             true => TurnVerdict::Block("the input contains a private key".to_owned()),
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
//! | point | can | is called |
//! |---|---|---|
//! | [`turn_start`](crate::Hook::turn_start) | block | once per turn, with its input |
//! | [`pre_request`](crate::Hook::pre_request) | replace, block | before each call of the model |
//! | [`post_request`](crate::Hook::post_request), [`on_error`](crate::Hook::on_error) | | exactly one of them after each attempt |
//! | [`on_retry`](crate::Hook::on_retry) | | before each further attempt |
//! | [`pre_tool`](crate::Hook::pre_tool) | replace, block | before each tool call, and again if a person edits its arguments |
//! | [`post_tool`](crate::Hook::post_tool) | replace | after each tool call that ran |
//! | [`turn_end`](crate::Hook::turn_end) | | once for each turn that started, however it ended; for a dropped turn, when the next one starts |
//! | [`plan_step`](crate::Hook::plan_step) | | after each step of a plan, by code that carries out plans |
//!
//! Hooks run in the order of registration, at every point. Each hook sees the changes of the hooks before it.
//!
//! # When a hook fails
//!
//! A hook that panics is logged and skipped, and so is one that exceeds its own [`timeout`](crate::Hook::timeout) or the one
//! of the [`Hooks`]. Neither ends the turn. A hook that [`fails_closed`](crate::Hook::fails_closed), however,
//! blocks what it was asked about: the turn does not start, the request is not sent, the tool does not run, or its result is
//! withheld.
//!
//! A hook that hangs does not hang the turn. While the turn waits for a verdict, its cancellation token and its time budgets
//! end the hook at once, and the turn with it. Hooks that are only notified have another [`GRACE_PERIOD`] to finish, so that
//! the end of a cancelled turn can still be recorded. A hook that blocks its thread cannot be interrupted.

pub(crate) mod context;
pub(crate) mod hook;
pub(crate) mod runner;
pub(crate) mod verdict;

mod bounds;

pub use bounds::{GRACE_PERIOD, HookBounds, HookStop};

pub(crate) use context::{HookContext, RequestPurpose};
pub(crate) use runner::Hooks;
