//! Trajectories as JSON Lines.

use std::borrow::Cow;

use agcore_cycle::machine::{Machine, Record};
use agcore_memory::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Trajectory, TrajectoryEntry, TrajectoryError};

/// The version of the form that this code writes and reads.
const VERSION: u32 = 1;

/// A line of a document.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Trajectory { version: u32, session: Cow<'a, str> },
    Entry(Box<EntryLine<'a>>),
}

#[derive(Serialize, Deserialize)]
struct EntryLine<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<Cow<'a, Machine>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    happened: Option<Record<'a>>,
}

impl Trajectory {
    /// Writes the trajectory as JSON Lines: a line for the session, then one for each [entry](TrajectoryEntry). Nothing is lost.
    ///
    /// # Errors
    /// When a value has no form in JSON, such as a number that is not finite.
    pub fn to_json_lines(&self) -> Result<String, TrajectoryError> {
        let head = Line::Trajectory {
            version: VERSION,
            session: self.session().into(),
        };
        let mut text = written(&head)?;
        for entry in self.entries() {
            text += &written(&Line::Entry(Box::new(EntryLine {
                at: entry.at,
                agent: entry.agent.as_deref().map(Cow::Borrowed),
                state: entry.state.as_deref().map(Cow::Borrowed),
                happened: (!entry.outcomes.is_empty()).then(|| Record::new(&entry.outcomes)),
            })))?;
        }
        Ok(text)
    }

    /// Reads what [`to_json_lines`](Self::to_json_lines) wrote. Lines of unknown types are ignored.
    ///
    /// # Errors
    /// When a line cannot be read, the document is of a newer version, or the entries do not follow from each other.
    pub fn from_json_lines(text: &str) -> Result<Self, TrajectoryError> {
        let mut session = None;
        let mut entries = Vec::new();
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (index, line) in lines {
            let at_line = |error: TrajectoryError| error.at_line(index + 1);
            if !is_known(line).map_err(at_line)? {
                continue;
            }
            match serde_json::from_str(line).map_err(|error| at_line(unreadable(error)))? {
                Line::Trajectory { version, .. } if version != VERSION => {
                    let problem = format!(
                        "the trajectory has version {version}, but this program reads version {VERSION}; use a newer version of \
                         the program"
                    );
                    return Err(at_line(TrajectoryError::new(problem)));
                }
                Line::Trajectory { .. } if session.is_some() => {
                    let problem = "a second trajectory begins; write one session to each file";
                    return Err(at_line(TrajectoryError::new(problem)));
                }
                Line::Trajectory { session: id, .. } => session = Some(id.into_owned()),
                Line::Entry(entry) => entries.push(read(*entry)),
            }
        }
        let Some(session) = session else {
            let problem = "this is not a trajectory: it lacks a line of the type `trajectory`; \
                           write it with `to_json_lines` or `agcore sessions export --format trajectory`";
            return Err(TrajectoryError::new(problem));
        };
        Self::new(session, entries)
    }
}

fn written(line: &Line<'_>) -> Result<String, TrajectoryError> {
    let text = serde_json::to_string(line);
    let text =
        text.map_err(|error| TrajectoryError::new("the trajectory cannot be written as JSON").with_source(error));
    Ok(text? + "\n")
}

/// Returns whether a line has a type that is read.
fn is_known(line: &str) -> Result<bool, TrajectoryError> {
    #[derive(Deserialize)]
    struct Type {
        r#type: String,
    }
    let Type { r#type } = serde_json::from_str(line).map_err(unreadable)?;
    Ok(matches!(r#type.as_str(), "trajectory" | "entry"))
}

fn unreadable(error: serde_json::Error) -> TrajectoryError {
    TrajectoryError::new("this is not a line of a trajectory").with_source(error)
}

fn read(line: EntryLine<'_>) -> TrajectoryEntry {
    TrajectoryEntry {
        at: line.at,
        agent: line.agent.map(Cow::into_owned),
        state: line.state.map(|state| Box::new(state.into_owned())),
        outcomes: line
            .happened
            .map(|record| record.outcomes().to_vec())
            .unwrap_or_default(),
    }
}
