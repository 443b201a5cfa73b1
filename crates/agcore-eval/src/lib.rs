//! Evaluations of agents: cases in a file, assertions about what the agent did, and reports for people and CI.
//!
//! ```
//! use agcore_agent::agent;
//! use agcore_eval::{AgentTarget, Evaluation, Format, Suite};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let suite = r#"
//! name = "greetings"
//!
//! [[cases]]
//! name = "greets by name"
//! input = "Hello, I am Ada."
//! replies = [{ text = "Good day, Ada!", tokens = [12, 5] }]
//! expect.answer = { contains = ["Ada"], excludes = ["As a language model"] }
//! expect.max_tokens = 100
//! "#;
//! let suite = Suite::parse("suite.toml", Format::Toml, suite)?;
//!
//! // Without `replies`, the case would ask the model of the target.
//! let target = AgentTarget::new(|model| agent(model).with_instructions("You greet people.").build());
//! let report = Evaluation::new(suite, target).run().await;
//! assert!(report.is_success(), "{}", report.to_json());
//! # Ok::<(), agcore_eval::SuiteError>(())
//! # }).unwrap();
//! ```
//!
//! A [`Suite`] is a file of [`Case`]s in TOML or YAML. An [`Evaluation`] runs them against a [`Target`], compares what it
//! [observes](Observation) with what is [expected](Expect), and returns a [`Report`], which can be written as JSON and compared
//! with an earlier one.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `junit` | Reports as JUnit XML. |
//!
//! <!-- /features -->

mod error;
mod expect;
mod script;
mod suite;
mod observation;
mod check;
mod target;
mod agent_target;
mod judge;
mod report;
mod evaluation;

#[doc(no_inline)]
pub use agcore_document::{Format, Place};
#[doc(inline)]
pub use {
    agent_target::AgentTarget,
    check::{Check, check},
    error::{EvalError, SuiteError},
    evaluation::Evaluation,
    expect::{
        Expect, ExpectCall, ExpectCalls, ExpectJudgement, ExpectText, ExpectValue, Order, Pattern, Pointer, Status,
    },
    judge::Judge,
    observation::{Observation, ObservedCall},
    report::{CaseChange, CaseResult, Change, Report, ReportDiff},
    script::{ScriptedCall, ScriptedReply},
    suite::{Case, Input, Suite},
    target::Target,
};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
