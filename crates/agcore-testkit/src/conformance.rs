//! A conformance suite: what every [`LlmProvider`](agcore_llm::LlmProvider) must do, checked on yours.
//!
//! ```
//! # #[cfg(feature = "scripted")]
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! use agcore_testkit::conformance::{Behavior, Mode, ScriptSubject, Suite, Verdict};
//!
//! let subject = ScriptSubject::new("my layer").with_layer(|inner| inner /* wrap `inner` in your layer */);
//! let grid = Suite::new().run(&subject).await;
//! grid.assert_passed();
//! assert_eq!(grid.verdict(Behavior::ParallelCalls, Mode::Streamed), Some(&Verdict::Pass));
//! # });
//! ```
//!
//! A [`Subject`] creates a provider whose server plays a [`Scenario`]. The [`Suite`] calls it both for whole and for
//! streamed replies and reports the results as a [`Grid`]. What cannot be checked on a subject is listed as skipped,
//! with the reason.
//!
//! - `ServerSubject` (feature `mock-server`) tests a provider over real HTTP, against the mock server.
//! - `ScriptSubject` (feature `scripted`) tests a layer around a scripted provider.
//! - For your own server, implement [`Subject`] and [`Fixture`].
//!
//! Every check also verifies that each reply ends exactly once and that nothing follows its end.

mod mode;
mod answer;
mod scenario;
mod behavior;
mod check_error;
mod fixture;
mod subject;
mod grid;
mod side_by_side;
mod expectations;
mod reply_reader;
mod check_context;
mod check;
mod suite;
#[cfg(feature = "scripted")]
mod script_subject;
#[cfg(feature = "mock-server")]
mod server_subject;

#[cfg(feature = "scripted")]
pub use script_subject::ScriptSubject;
#[cfg(feature = "mock-server")]
pub use server_subject::ServerSubject;
pub use {
    answer::{Answer, Slicing},
    behavior::Behavior,
    check_error::CheckError,
    fixture::{Fixture, Observation, ReceivedRequest},
    grid::{Cell, Grid, Verdict},
    mode::Mode,
    scenario::Scenario,
    side_by_side::SideBySide,
    subject::Subject,
    suite::Suite,
};
