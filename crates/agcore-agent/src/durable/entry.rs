//! [`EntryData`]: the JSON form of one record of a session.

use std::{borrow::Cow, collections::BTreeMap};

use agcore_cycle::{
    Spent,
    machine::{Machine, Outcome, Record as Outcomes},
};
use agcore_session::{Entry, Record, SessionError, SessionStore, Timestamp, stream_of};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    context_record::ContextRecord,
    side_record::{self, SideRecord as _},
    task_record::TaskRecord,
};
use crate::error::AgentError;

/// The kind of the records of sessions.
const KIND: &str = "agent";

/// The kind of the records of sub-agents, in the stream of the session in which they work.
const SUB_AGENT_KIND: &str = "sub_agent";

/// The version of the form that this code writes. It also reads all older ones.
const VERSION: u32 = 1;

/// One record: what happened between two writes. Its parts take effect in the order of the members.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EntryData<'a> {
    /// The session object that wrote the record, so that it recognizes its own.
    writer: Cow<'a, str>,
    /// The calls that lead to the sub-agent to which the record belongs. `None` for a record of the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<Cow<'a, str>>,
    /// The name of the agent that has the conversation from now on; empty for the one with which the session is opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    /// The id of the run from here on; empty if runs are numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<Cow<'a, str>>,
    /// The whole state of the conversation, which replaces what the records before have led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<Cow<'a, Machine>>,
    /// The memory of the tools for the session, if it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Value>,
    /// The values that the steps of the turn share, if they have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run_state: Option<Map<String, Value>>,
    /// The outcomes that the conversation absorbed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcomes: Option<Outcomes<'a>>,
}

/// A record of a session, without what only concerns tools.
pub(crate) struct SessionEntry {
    pub(crate) at: Timestamp,
    pub(crate) agent: Option<String>,
    pub(crate) state: Option<Machine>,
    pub(crate) outcomes: Vec<Outcome>,
}

/// Returns the records of a session, without those of sub-agents.
///
/// # Errors
/// [`InvalidState`](crate::AgentErrorKind::InvalidState) if a record is damaged or too new.
pub(crate) fn entries_of(entries: Vec<Entry>) -> Result<Vec<SessionEntry>, AgentError> {
    let read = entries.into_iter().map(|entry| {
        let at = entry.record.at;
        let data = EntryData::read(entry, None)?;
        Ok(data.map(|data| SessionEntry {
            at,
            agent: data.agent,
            state: data.state.map(Cow::into_owned),
            outcomes: data
                .outcomes
                .map(|record| record.outcomes().to_vec())
                .unwrap_or_default(),
        }))
    });
    read.filter_map(Result::transpose).collect()
}

/// Returns what all turns of a stored session have spent of their budgets, with the sub-agents that have worked in them, according
/// to its records: a call whose process ended before the answer was recorded is missing. Zero if there is no such session.
///
/// Open sessions answer for themselves: [`AgentSession::spent`](crate::AgentSession::spent) for all turns without their sub-agents,
/// and [`AgentSession::turn_spent`](crate::AgentSession::turn_spent) for the newest turn with them.
///
/// # Errors
/// [`Storage`](crate::AgentErrorKind::Storage) if the store fails,
/// [`InvalidState`](crate::AgentErrorKind::InvalidState) if a record is damaged or too new.
pub async fn session_spent(store: &dyn SessionStore, tenant: &str, session: &str) -> Result<Spent, AgentError> {
    let entries = store.read(&stream_of(tenant, session), 1).await?;
    EntryData::spent_by(entries, |_| true)
}

impl<'a> EntryData<'a> {
    /// Creates a record of these outcomes.
    pub(super) fn new(writer: &'a str, outcomes: &'a [Outcome]) -> Self {
        Self {
            writer: writer.into(),
            path: None,
            agent: None,
            run: None,
            state: None,
            tools: None,
            run_state: None,
            outcomes: (!outcomes.is_empty()).then(|| Outcomes::new(outcomes)),
        }
    }

    /// Makes this a record of a sub-agent.
    pub(super) fn with_path(mut self, path: Option<&'a str>) -> Self {
        self.path = path.map(Cow::Borrowed);
        self
    }

    /// Returns the record as a store keeps it.
    pub(super) fn into_record(self, at: Timestamp) -> Result<Record, SessionError> {
        let kind = if self.path.is_some() { SUB_AGENT_KIND } else { KIND };
        side_record::write(kind, VERSION, &self, at)
    }

    /// Returns the sum of what the sub-agents whose paths begin like this have spent of their budgets.
    pub(super) fn nested_spent(entries: Vec<Entry>, start_of_path: &str) -> Result<Spent, AgentError> {
        Self::spent_by(entries, |path| path.is_some_and(|path| path.starts_with(start_of_path)))
    }

    /// Returns the sum of what the session and its sub-agents have spent that are wanted by their paths; `None` is the session.
    fn spent_by(entries: Vec<Entry>, is_wanted: impl Fn(Option<&str>) -> bool) -> Result<Spent, AgentError> {
        let mut spent: BTreeMap<Option<String>, Spent> = BTreeMap::new();
        for entry in entries {
            let path = match entry.record.kind.as_str() {
                KIND => None,
                SUB_AGENT_KIND => entry.record.data.get("path").and_then(Value::as_str).map(str::to_owned),
                _ => continue,
            };
            if !is_wanted(path.as_deref()) {
                continue;
            }
            let Some(data) = Self::read(entry, path.as_deref())? else {
                continue;
            };
            let of_path = spent.entry(path).or_default();
            if let Some(state) = data.state {
                of_path.clone_from(state.spent());
            }
            for outcome in data.outcomes.iter().flat_map(Outcomes::outcomes) {
                if let Outcome::Spent(more) = outcome {
                    of_path.add(more);
                }
            }
        }
        let mut sum = Spent::new();
        spent.values().for_each(|of_path| sum.add(of_path));
        Ok(sum)
    }

    /// Reads a record of the session, or of the sub-agent with this path. Returns `None` for a record of another one.
    pub(super) fn read(entry: Entry, path: Option<&str>) -> Result<Option<EntryData<'static>>, AgentError> {
        let record = &entry.record;
        let is_wanted = match (record.kind.as_str(), path) {
            (SUB_AGENT_KIND, Some(path)) => record.data.get("path").is_some_and(|found| found == path),
            (SUB_AGENT_KIND, None) | (TaskRecord::KIND | ContextRecord::KIND, _) => false,
            (KIND, path) => path.is_none(),
            _ => true,
        };
        if !is_wanted {
            return Ok(None);
        }
        if record.kind != KIND && record.kind != SUB_AGENT_KIND {
            let problem = format!(
                "its record {} is of the kind `{}`, which agents do not write",
                entry.seq, record.kind
            );
            return Err(AgentError::state(problem));
        }
        side_record::read(entry, VERSION).map(Some)
    }
}

/// Compares what tools remember. The number of batches only orders refusals, so it does not count as a change of its own.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    let members = |value: &Value| {
        let members = value.as_object().into_iter().flatten();
        members
            .filter(|(name, _)| *name != "batch")
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Map<_, _>>()
    };
    members(one) == members(other)
}
