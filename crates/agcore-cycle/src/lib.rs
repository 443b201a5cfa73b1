//! The agent loop: one conversation with a model, from a user's input through rounds of tool calls to the answer.
//!
//! ```
//! use agcore_chat::ChatResponse;
//! use agcore_cycle::LlmCycle;
//! use agcore_llm::{provider_fn, SystemClock};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let provider = provider_fn(|call| async move {
//!     Ok(ChatResponse::from_text(format!("{} messages", call.request.messages.len())))
//! });
//! let mut cycle = LlmCycle::new(provider, SystemClock::new());
//! assert_eq!(cycle.turn("Hello").await?.text(), "1 messages");
//! assert_eq!(cycle.turn("Again").await?.text(), "3 messages");
//! # Ok::<(), agcore_cycle::CycleError>(())
//! # }).unwrap();
//! ```
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `typed` | JSON Schemas derived from Rust types for typed output, through schemars. |
//!
//! <!-- /features -->

pub mod budget;
pub mod hooks;
pub mod typed;
pub mod machine;
mod compact;
mod error;
mod recorder;
mod result_view;
mod options;
mod outcome;
mod typed_outcome;
mod observer;
mod turn_stream;
mod unfinished_call;
mod driver;
mod cycle;
mod turn;

#[doc(inline)]
pub use {
    budget::{limit::Budget, pool::BudgetPool, settings::Budgets, shared::SharedBudget, spent::Spent},
    compact::{report::CompactionReport, settings::CompactionSettings},
    cycle::LlmCycle,
    error::{CycleError, CycleErrorKind},
    hooks::{
        context::{HookContext, PlanStepEnd, RequestPurpose},
        hook::Hook,
        runner::Hooks,
        verdict::{RequestVerdict, ResultVerdict, ToolVerdict, TurnVerdict},
    },
    observer::Observer,
    options::{CycleSettings, PauseFlag, TurnInput, TurnOptions},
    outcome::{TurnOutcome, TurnReport},
    recorder::{OutcomeRecorder, RecordedFailure, RecordedReply},
    result_view::{ResultView, ShownResult},
    turn::{AnswerKind, CycleTurn, FreeText},
    turn_stream::{TextStream, TurnStream},
    typed::{error::OutputError, mode::OutputMode, options::TypedOptions, output::Output},
    typed_outcome::{Typed, TypedOutcome},
};

#[cfg(feature = "typed")]
pub use typed::output::OutputType;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
