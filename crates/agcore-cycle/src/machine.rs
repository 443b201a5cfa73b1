//! [`Machine`]: the agent loop as a pure, serializable state machine.
//!
//! [`next`](Machine::next) returns what to do, only [`absorb`](Machine::absorb) changes anything, and the state is the fold of
//! the absorbed [`Outcome`]s, which are what a journal keeps. There is no clock, no future and no vendor code. Retries,
//! restarts and routing happen below the machine, agents and handoffs above it.
//!
//! The answer of a typed turn is [checked](Step::Check) before it counts. One that does not fit enters the history with a hint
//! for the model, or with an error result if a tool carries the answer. The model may correct it as many times as the
//! [`Expectation`] of the turn allows.
//!
//! The history is valid after every outcome. What a turn adds enters it with the next accepted reply; a round (the assistant
//! message and the results of all its calls) enters at once.
//!
//! Code with a token estimator passes in a [plan](Compact) for a compaction. Old tool results become markers at once and
//! permanently; for a summary, [`next`](Machine::next) asks for a call of the model, whatever else is in progress. If the
//! summary is not usable, only the tool results are removed. When the model rejects the conversation as too long, `next` asks for
//! a plan, once per call.

mod absorb;
mod call_ids;
mod changes;
mod check;
mod end;
mod fork;
mod history;
mod outcome;
mod question_id;
mod record;
mod result;
mod round;
mod saved;
mod slot;
mod state;
mod step;
mod turn;
mod version;

pub use changes::{Changes, MachineError};
pub use end::{End, LimitKind};
pub(crate) use fork::Fork;
pub use outcome::compact::{Compact, CompactReason, Summary};
pub use outcome::expectation::{Draft, Expectation, Verdict};
pub use outcome::limits::{Limits, RoundLimit};
pub use outcome::lost::Lost;
pub use outcome::media_refusal::MediaRefusal;
pub use outcome::reply::{Failure, Reply};
pub use outcome::{Begin, Cause, Outcome};
pub use record::Record;
pub(crate) use result::OUTCOME_UNKNOWN as UNKNOWN_OUTCOME;
pub(crate) use state::Account;
pub use state::Machine;
pub use step::{CallPlan, Purpose, Step, View};
