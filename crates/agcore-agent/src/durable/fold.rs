//! [`fold`]: the state of a session from its records.

use std::sync::Arc;

use agcore_cycle::machine::{Limits, Machine, Outcome};
use agcore_session::Entry;
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
    /// The number of the record with the newest reply.
    pub(crate) reply: Option<u64>,
    /// The name of the agent to which the conversation was handed over.
    pub(crate) agent: Option<String>,
    /// The id of the run of the newest turn, if it was given one.
    pub(crate) run: Option<Arc<str>>,
}

impl Folded {
    /// Returns a session without records, with this state.
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine,
            tools: ToolSession::new(),
            run_state: RunState::default(),
            has_state: false,
            end: 0,
            reply: None,
            agent: None,
            run: None,
        }
    }
}

/// Returns the state after these records, which begin with the first one of the session: the state of the session, or of the
/// sub-agent with this path. `limits` are those of a session without records.
///
/// # Errors
/// [`InvalidState`](crate::AgentErrorKind::InvalidState) if a record is missing, damaged or too new.
pub(crate) fn fold(entries: Vec<Entry>, path: Option<&str>, limits: &Limits) -> Result<Folded, AgentError> {
    let (mut machine, mut tools, mut run_state) = (None::<Machine>, None::<Value>, Map::new());
    let (mut end, mut reply, mut agent, mut run) = (0, None, None, None);
    for entry in entries {
        let seq = entry.seq;
        if seq != end + 1 && end > 0 {
            return Err(AgentError::state(format_args!("its record {} is missing", end + 1)));
        }
        end = seq;
        let Some(data) = EntryData::read(entry, path)? else {
            continue;
        };
        agent = data.agent.or(agent);
        run = data.run.or(run);
        machine = data.state.map(std::borrow::Cow::into_owned).or(machine);
        tools = data.tools.or(tools);
        run_state = data.run_state.unwrap_or(run_state);
        let Some(machine) = &mut machine else {
            let problem = format_args!("its first record, number {seq}, does not contain a state");
            return Err(AgentError::state(problem));
        };
        if let Some(outcomes) = data.outcomes {
            if outcomes
                .outcomes()
                .iter()
                .any(|outcome| matches!(outcome, Outcome::Reply(_)))
            {
                reply = Some(seq);
            }
            outcomes
                .replay(machine)
                .map_err(|error| AgentError::state(format_args!("its record {seq} does not follow: {error}")))?;
        }
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
        reply,
        agent: agent.filter(|name| !name.is_empty()),
        run: run.filter(|id| !id.is_empty()).map(Arc::from),
    })
}
