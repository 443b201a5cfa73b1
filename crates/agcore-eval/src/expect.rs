//! [`Expect`]: the expectations of a case.

mod pattern;

pub use self::pattern::{Pattern, Pointer};

use agcore_chat::Money;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

/// The expectations of a case. Missing ones are not checked, except that the last turn finishes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Expect {
    /// The end of the last turn.
    pub status: Status,
    /// The text of the answer.
    pub answer: ExpectText,
    /// Values of the answer, which is JSON.
    pub json: Vec<ExpectValue>,
    /// The calls of tools.
    pub tools: ExpectCalls,
    /// The largest number of calls of the model.
    pub max_steps: Option<u64>,
    /// The largest number of calls of tools.
    pub max_tool_calls: Option<usize>,
    /// The largest number of tokens.
    pub max_tokens: Option<u64>,
    /// The highest cost, such as `0.05 USD`.
    #[serde(deserialize_with = "money")]
    pub max_cost: Option<Money>,
    /// A judgement of a model about the answer.
    pub judge: Option<ExpectJudgement>,
}

/// The end of the last turn of a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// With an answer.
    #[default]
    Finished,
    /// It waits for a person.
    Suspended,
    /// It fails, for example because a limit is reached.
    Failed,
}

impl Status {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Suspended => "suspended",
            Self::Failed => "failed",
        }
    }
}

/// The expectations of a text. All that is given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ExpectText {
    /// The whole text, without spaces around it.
    pub equals: Option<String>,
    /// Parts of the text.
    pub contains: Vec<String>,
    /// Parts that the text must not contain.
    pub excludes: Vec<String>,
    /// Regular expressions that match somewhere in the text.
    pub matches: Vec<Pattern>,
}

/// The expectation of a value in an answer that is JSON.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpectValue {
    /// Where it is, as a JSON Pointer; empty for the whole answer.
    pub pointer: Pointer,
    /// The value. Without it, any value will do.
    #[serde(default)]
    pub equals: Option<Value>,
    /// A regular expression that matches somewhere in the value, which is a text.
    #[serde(default)]
    pub matches: Option<Pattern>,
}

/// The expectations of the calls of tools.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ExpectCalls {
    /// The calls.
    pub calls: Vec<ExpectCall>,
    /// Their order.
    pub order: Order,
    /// The tools that must not be called.
    pub never: Vec<String>,
}

/// The order of expected calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Order {
    /// In this order; others may come before, between and after them.
    #[default]
    InOrder,
    /// In any order; there may be others.
    Any,
    /// In this order, and no others.
    Exact,
}

/// An expected call of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpectCall {
    /// The tool.
    pub name: String,
    /// Arguments with their values; others do not matter.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// A judgement of a model about the answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExpectJudgement {
    /// The properties of a good answer.
    pub criteria: String,
    /// The lowest score that passes, from 0 to 1; 0.5 by default.
    #[serde(default = "half", deserialize_with = "score")]
    pub min_score: f64,
}

fn half() -> f64 {
    0.5
}

fn score<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let score = f64::deserialize(deserializer)?;
    match (0.0..=1.0).contains(&score) {
        true => Ok(score),
        false => Err(de::Error::custom("a score is a number from 0 to 1")),
    }
}

fn money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
}
