//! What every [`LlmProvider`](agcore_llm::LlmProvider) shall do, checked on yours.
//!
//! A [`Subject`] makes a provider whose server plays a [`Scenario`]; the [`Suite`] asks it whole and streamed, and prints
//! what came out as a [`Grid`]. What cannot be checked on a subject is skipped by name, with the reason.
//!
//! - `ServerSubject` (feature `mock-server`): a provider over real HTTP, against the mock
//!   server.
//! - `ScriptSubject` (feature `scripted`): a layer around a scripted provider.
//! - Anything else: implement [`Subject`] and [`Stage`] for your own server.
//!
//! Whatever is asked, a reply has exactly one end, nothing after it, and comes to that end.

mod mode;
mod answer;
mod scenario;
mod behaviour;
mod halt;
mod stage;
mod subject;
#[cfg(any(feature = "mock-server", feature = "scripted"))]
mod skips;
mod grid;
mod side_by_side;
mod expected;
mod listening;
mod scene;
mod check;
mod suite;
#[cfg(feature = "scripted")]
mod script;
#[cfg(feature = "mock-server")]
mod server;

#[cfg(feature = "scripted")]
pub use script::ScriptSubject;
#[cfg(feature = "mock-server")]
pub use server::ServerSubject;
pub use {
    answer::{Answer, Slicing},
    behaviour::Behaviour,
    grid::{Cell, Grid, Verdict},
    halt::Halt,
    mode::Mode,
    scenario::Scenario,
    side_by_side::SideBySide,
    stage::{SeenRequest, Sight, Stage},
    subject::Subject,
    suite::Suite,
};
