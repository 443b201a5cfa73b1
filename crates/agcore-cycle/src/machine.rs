//! [`Machine`]: the cycle of requests and tool rounds as a pure, serializable state machine.
//!
//! [`next`](Machine::next) reads what is to be done, only [`absorb`](Machine::absorb) changes anything, and the state is
//! the fold of the absorbed [`Outcome`]s: they are what a journal keeps. No clock, no future, no vendor. Retries, restarts
//! and routing stay below it, agents and handoff above it.
//!
//! The answer of a typed turn is [checked](Step::Check) before it counts. One that does not fit enters the history with a
//! hint for the model, or with an error result where a tool carries the answer, and the model mends it, so often as the
//! turn's [`Expectation`] says.
//!
//! History is valid after every outcome: what a turn adds enters it with the next accepted reply, a round (the assistant
//! message and the results of all its calls) enters at once.
//!
//! Compaction: whoever has an estimator hands in a [plan](Compact). Old tool results become markers at once and for good;
//! for a summary [`next`](Machine::next) asks for a call of the model, whatever else is under way. A summary that is of no
//! use leaves what taking results out gives. When the model says that the conversation is too long, `next` asks for a plan,
//! once for each call.

mod absorb;
mod changes;
mod check;
mod compact;
mod compaction;
mod end;
mod expectation;
mod limits;
mod outcome;
mod reply;
mod result;
mod round;
mod state;
mod step;
mod turn;

pub use changes::{Changes, MachineError};
pub use compact::{Compact, CompactReason, Summary};
pub use end::{End, LimitKind};
pub use expectation::{Draft, Expectation, Verdict};
pub use limits::{Limits, RoundLimit};
pub use outcome::{Begin, Cause, Outcome};
pub use reply::{Failure, Reply};
pub use state::Machine;
pub use step::{CallPlan, Purpose, Step, View};
