//! [`Suite`]: the cases of a file.

use std::collections::HashSet;

use agcore_agent::AgentSpec;
use agcore_document::{Format, Node, Place, Value as DocumentValue};
use serde::Deserialize;
use serde_json::Value;

use crate::{error::SuiteError, expect::Expect, script::ScriptedReply};

/// The largest number of times that a case is repeated.
const MAX_REPEATS: u32 = 1_000;

/// The cases of a file, and the agent that they evaluate.
///
/// ```
/// use agcore_eval::{Format, Suite};
///
/// let text = r#"
/// name = "math"
///
/// [[cases]]
/// name = "adds"
/// input = "What is 17 + 25?"
/// replies = [{ text = "42" }]
/// expect.answer.contains = ["42"]
/// "#;
/// let suite = Suite::parse("suite.toml", Format::Toml, text)?;
/// assert_eq!(suite.cases[0].input.turns(), ["What is 17 + 25?"]);
/// # Ok::<(), agcore_eval::SuiteError>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Suite {
    /// The name, for reports.
    pub name: String,
    /// The agent; by default that of the target.
    #[serde(default)]
    pub agent: Option<AgentSpec>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One case: the input of an agent, and the expectations.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Case {
    /// The name, unique in its file.
    pub name: String,
    /// The input of the user: a text, or a list with a text for each turn.
    pub input: Input,
    /// The replies of a scripted model, one for each call. Without them and a cassette, a real model answers.
    #[serde(default)]
    pub replies: Option<Vec<ScriptedReply>>,
    /// The file of a [cassette](agcore_llm::cassette) that answers, relative to the folder of the target.
    #[serde(default)]
    pub cassette: Option<String>,
    /// The JSON Schema of the answer, if it is not plain text.
    #[serde(default)]
    pub output: Option<Value>,
    /// The number of runs of the case; 1 by default. Models do not always answer the same.
    #[serde(default = "once")]
    pub repeat: u32,
    /// Words by which cases are selected.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The expectations.
    #[serde(default)]
    pub expect: Expect,
}

/// The input of the user: a text for each turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a text, or a list of texts with one for each turn")]
#[non_exhaustive]
pub enum Input {
    /// One turn.
    Text(String),
    /// Several turns of one session.
    Turns(Vec<String>),
}

impl Input {
    /// Returns the text of each turn.
    pub fn turns(&self) -> &[String] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::Turns(turns) => turns,
        }
    }
}

impl Suite {
    /// Reads a file of cases. `file` is its name, for errors.
    ///
    /// # Errors
    /// What is wrong, with its line and column.
    pub fn parse(file: &str, format: Format, text: &str) -> Result<Self, SuiteError> {
        let refused = |error| SuiteError::of_document(file, &error);
        let root = format.parse(text).map_err(refused)?;
        let suite: Self = root.read().map_err(refused)?;
        match suite.problem() {
            None => Ok(suite),
            Some(Problem { case, member, problem }) => {
                let place = place_of(&root, case, member);
                let path = match case {
                    Some(case) => format!("cases[{case}].{member}"),
                    None => member.to_owned(),
                };
                Err(SuiteError::new(file, place, path, problem))
            }
        }
    }

    /// Keeps the cases whose name contains a text, or that have it as a tag.
    #[must_use]
    pub fn filtered(mut self, filter: &str) -> Self {
        self.cases
            .retain(|case| case.name.contains(filter) || case.tags.iter().any(|tag| tag == filter));
        self
    }

    /// Returns the first member that is wrong, and why.
    fn problem(&self) -> Option<Problem> {
        let mut names = HashSet::new();
        for (index, case) in self.cases.iter().enumerate() {
            let wrong = |member, problem: &str| {
                Some(Problem {
                    case: Some(index),
                    member,
                    problem: problem.to_owned(),
                })
            };
            if case.name.trim().is_empty() {
                return wrong("name", "the name is empty");
            }
            if !names.insert(&case.name) {
                return wrong("name", "an earlier case has this name; names are unique");
            }
            if case.input.turns().is_empty() {
                return wrong("input", "there is no turn");
            }
            if case.replies.is_some() && case.cassette.is_some() {
                return wrong(
                    "cassette",
                    "a case has either replies or a cassette; remove one of them",
                );
            }
            if !(1..=MAX_REPEATS).contains(&case.repeat) {
                return wrong("repeat", &format!("a case is run 1 to {MAX_REPEATS} times"));
            }
        }
        match self.cases.is_empty() {
            true => Some(Problem {
                case: None,
                member: "cases",
                problem: "there is no case".to_owned(),
            }),
            false => None,
        }
    }
}

/// A member that is wrong: of a case, or of the document.
struct Problem {
    case: Option<usize>,
    member: &'static str,
    problem: String,
}

/// Returns the place of a member, or of the case that lacks it.
fn place_of(root: &Node, case: Option<usize>, member: &str) -> Place {
    let cases = root.member("cases").map(|member| &member.node.value);
    let case = match (cases, case) {
        (Some(DocumentValue::List(cases)), Some(index)) => cases.get(index),
        _ => None,
    };
    let table = case.unwrap_or(root);
    table.member(member).map_or(table.place, |member| member.place)
}

fn once() -> u32 {
    1
}
