//! Trajectories as JSON Lines.

use std::borrow::Cow;

use agcore_cycle::machine::{Machine, Record};
use agcore_session::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{Trajectory, TrajectoryEntry, TrajectoryError};

/// The version of the form that this code writes and reads.
const VERSION: u32 = 1;

/// The types of lines.
const HEAD: &str = "trajectory";
const ENTRY: &str = "entry";

/// The first line of a document.
#[derive(Serialize, Deserialize)]
struct HeadLine<'a> {
    version: u32,
    session: Cow<'a, str>,
}

/// Any other line.
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
        let head = HeadLine {
            version: VERSION,
            session: self.session().into(),
        };
        let mut text = written(HEAD, &head)?;
        for entry in self.entries() {
            let line = EntryLine {
                at: entry.at,
                agent: entry.agent.as_deref().map(Cow::Borrowed),
                state: entry.state.as_deref().map(Cow::Borrowed),
                happened: (!entry.outcomes.is_empty()).then(|| Record::new(&entry.outcomes)),
            };
            text += &written(ENTRY, &line)?;
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
            match &*type_of(line).map_err(at_line)? {
                HEAD => {
                    let head: HeadLine<'_> = read(line).map_err(at_line)?;
                    if head.version != VERSION {
                        let problem = format!(
                            "the trajectory has version {}, but this program reads version {VERSION}; use a newer version of the \
                             program",
                            head.version
                        );
                        return Err(at_line(TrajectoryError::new(problem)));
                    }
                    if session.is_some() {
                        let problem = "a second trajectory begins; write one session to each file";
                        return Err(at_line(TrajectoryError::new(problem)));
                    }
                    session = Some(head.session.into_owned());
                }
                ENTRY => entries.push(read::<EntryLine<'_>>(line).map_err(at_line)?.into()),
                _ => {}
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

impl From<EntryLine<'_>> for TrajectoryEntry {
    fn from(line: EntryLine<'_>) -> Self {
        Self {
            at: line.at,
            agent: line.agent.map(Cow::into_owned),
            state: line.state.map(|state| Box::new(state.into_owned())),
            outcomes: line
                .happened
                .map(|record| record.outcomes().to_vec())
                .unwrap_or_default(),
        }
    }
}

/// Writes a line with its type as the first member. Like [`read`], it goes through `Value`, as the records of sessions do: serde's
/// `tag` and the forms of text would each generate the code for a whole conversation once more.
fn written(kind: &str, line: &impl Serialize) -> Result<String, TrajectoryError> {
    let members = serde_json::to_value(line)
        .map_err(|error| TrajectoryError::new("the trajectory cannot be written as JSON").with_source(error))?;
    let mut object = Map::from_iter([("type".to_owned(), kind.into())]);
    if let Value::Object(members) = members {
        object.extend(members);
    }
    Ok(Value::Object(object).to_string() + "\n")
}

/// Returns the type of a line.
fn type_of(line: &str) -> Result<String, TrajectoryError> {
    #[derive(Deserialize)]
    struct Type {
        r#type: String,
    }
    let Type { r#type } = serde_json::from_str(line).map_err(unreadable)?;
    Ok(r#type)
}

fn read<T: DeserializeOwned>(line: &str) -> Result<T, TrajectoryError> {
    serde_json::from_str(line)
        .and_then(serde_json::from_value)
        .map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> TrajectoryError {
    TrajectoryError::new("this is not a line of a trajectory").with_source(error)
}
