//! Evaluations of agents: cases in a file, assertions about what the agent did, and reports for people and CI.
//!
//! ```
//! use agcore::eval::{AgentTarget, Evaluation, Format, Suite};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let suite = "
//! name: greetings
//! cases:
//!   - name: greets by name
//!     input: Hello, I am Ada.
//!     replies: [{text: 'Good day, Ada!'}]
//!     expect: {answer: {contains: [Ada]}, max_steps: 1}
//! ";
//! let suite = Suite::parse("suite.yaml", Format::Yaml, suite)?;
//! let target = AgentTarget::new(|model| agcore::agent(model).build());
//! assert!(Evaluation::new(suite, target).run().await.is_success());
//! # Ok::<(), agcore::eval::SuiteError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | read cases from a file | [`Suite::parse`] |
//! | evaluate an agent | [`AgentTarget`] |
//! | evaluate something else | [`Target`] |
//! | let a model judge answers | [`Judge`] |
//! | write a report for CI | [`Report::to_json`], [`Report::to_junit`] |
//! | compare two evaluations | [`Report::diff`] |

#[doc(inline)]
pub use agcore_eval::*;
