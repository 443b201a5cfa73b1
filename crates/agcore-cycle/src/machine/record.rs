//! [`Record`]: outcomes in the form in which a journal keeps them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    changes::MachineError,
    outcome::Outcome,
    state::Machine,
    version::{VERSION, known_version},
};

/// Outcomes that a machine absorbs together, with the version of their form: one entry of a journal.
///
/// Entries of older versions are migrated when they are read, and those of newer ones are an error.
///
/// ```
/// use agcore_chat::Message;
/// use agcore_cycle::machine::{Begin, Cause, Limits, Machine, Outcome, Record};
///
/// let mut machine = Machine::new(Limits::new());
/// let before = machine.clone();
/// let outcomes = [Outcome::TurnStarted(Begin::new([Message::user("Hello")])), Outcome::Stop(Cause::cancelled())];
/// let entry = serde_json::to_string(&Record::new(&outcomes))?;
/// for outcome in outcomes {
///     machine.absorb(outcome)?;
/// }
///
/// // The state is the fold of its outcomes.
/// let mut restored = before;
/// serde_json::from_str::<Record>(&entry)?.replay(&mut restored)?;
/// assert_eq!(restored, machine);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<'a> {
    /// First, so that an unknown version is reported before the outcomes are read.
    #[serde(deserialize_with = "known_version")]
    version: u16,
    outcomes: Cow<'a, [Outcome]>,
}

impl<'a> Record<'a> {
    /// Creates a record of these outcomes.
    pub fn new(outcomes: &'a [Outcome]) -> Self {
        Self {
            version: VERSION,
            outcomes: Cow::Borrowed(outcomes),
        }
    }

    /// Returns the outcomes, in order.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Absorbs the outcomes into the state that they were recorded after.
    ///
    /// # Errors
    /// [`MachineError`] of the first outcome that does not fit the state; those before it are absorbed.
    pub fn replay(self, machine: &mut Machine) -> Result<(), MachineError> {
        for outcome in self.outcomes.into_owned() {
            machine.absorb(outcome)?;
        }
        Ok(())
    }
}
