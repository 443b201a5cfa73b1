//! [`fold`]: the state of a session from its records.

use agcore_cycle::machine::{Limits, Machine};
use agcore_memory::Entry;
use agcore_tools::{RunState, ToolSession};
use serde_json::{Map, Value};

use super::entry::EntryData;
use crate::error::AgentError;

/// A session as it was after a record.
pub(crate) struct Folded {
    pub(crate) machine: Machine,
    pub(crate) tools: ToolSession,
    pub(crate) run_state: RunState,
    /// Whether the records contain the state. If not, the next one must.
    pub(crate) has_state: bool,
    /// The number of the last record.
    pub(crate) end: u64,
}

/// Returns the state after these records, which begin with the first one of the session. `limits` are those of a session
/// without records.
///
/// # Errors
/// [`InvalidState`](crate::AgentErrorKind::InvalidState) if a record is missing, damaged or too new.
pub(crate) fn fold(entries: Vec<Entry>, limits: &Limits) -> Result<Folded, AgentError> {
    let (mut machine, mut tools, mut run_state) = (None::<Machine>, None::<Value>, Map::new());
    let mut end = 0;
    for entry in entries {
        let seq = entry.seq;
        if seq != end + 1 && end > 0 {
            return Err(AgentError::state(format_args!("its record {} is missing", end + 1)));
        }
        let data = EntryData::read(entry)?;
        machine = data.state.map(std::borrow::Cow::into_owned).or(machine);
        tools = data.tools.or(tools);
        run_state = data.run_state.unwrap_or(run_state);
        let Some(machine) = &mut machine else {
            let problem = format_args!("its first record, number {seq}, does not contain a state");
            return Err(AgentError::state(problem));
        };
        if let Some(outcomes) = data.outcomes {
            outcomes
                .replay(machine)
                .map_err(|error| AgentError::state(format_args!("its record {seq} does not follow: {error}")))?;
        }
        end = seq;
    }
    let tools = match tools {
        Some(saved) => ToolSession::restore(saved).map_err(AgentError::state_from)?,
        None => ToolSession::new(),
    };
    Ok(Folded {
        has_state: machine.is_some(),
        machine: machine.unwrap_or_else(|| Machine::new(limits.clone())),
        tools,
        run_state: RunState::restore(run_state),
        end,
    })
}
