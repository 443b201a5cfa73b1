//! [`ActionRecord`]: what a node of a planner loop has done.

use agcore_chat::UsageTracker;
use agcore_files::FileMapping;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The relevance of the result of an action for what follows: a number from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Relevance(f64);

impl Relevance {
    /// Creates a relevance. Numbers outside of 0 to 1 are clamped, and NaN is 0.
    pub fn new(value: f64) -> Self {
        if value.is_nan() {
            Self(0.0)
        } else {
            Self(value.clamp(0.0, 1.0))
        }
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Relevance {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Self, &'static str> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err("a relevance is a number from 0 to 1")
        }
    }
}

impl From<Relevance> for f64 {
    fn from(relevance: Relevance) -> Self {
        relevance.0
    }
}

/// The type of the content of an [`ActionContext`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ActionContent {
    /// A text.
    Text,
    /// An image, as a reference to where it is.
    Image,
    /// Structured data.
    Data,
}

/// The purpose of an [`ActionContext`] in later steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextUsage {
    /// It is restructured.
    Refactor,
    /// It is changed.
    Modify,
    /// It is looked up.
    Reference,
    /// It is analysed.
    Analysis,
    /// It is part of the output.
    Output,
}

/// A result that later steps use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActionContext {
    /// The type of the content.
    #[serde(rename = "type")]
    pub kind: ActionContent,
    /// The content: a text for texts and references, any JSON for data.
    pub content: Value,
    /// Whether it must not be left out when context is short.
    #[serde(default)]
    pub important: bool,
    /// Its purpose.
    pub usage_type: ContextUsage,
    /// The file that contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<FileMapping>,
}

impl ActionContext {
    /// Creates a result with a purpose.
    pub fn new(kind: ActionContent, content: impl Into<Value>, usage_type: ContextUsage) -> Self {
        Self {
            kind,
            content: content.into(),
            important: false,
            usage_type,
            mapping: None,
        }
    }

    /// Marks it as important: it must not be left out.
    #[must_use]
    pub fn with_important(mut self) -> Self {
        self.important = true;
        self
    }

    /// Sets the file that contains it.
    #[must_use]
    pub fn with_mapping(mut self, mapping: FileMapping) -> Self {
        self.mapping = Some(mapping);
        self
    }
}

/// The record of an action of a node. All nodes write records of this one shape: planner, tools and reflection.
///
/// ```
/// use agcore_flow_files::{ActionRecord, Relevance};
///
/// let record = ActionRecord::new("search").with_summary("found two pages").with_next("reflection");
/// let json = serde_json::to_value(&record)?;
/// assert_eq!(json["next"], serde_json::json!(["reflection"]));
/// // All members are always there.
/// assert_eq!(json["context"], serde_json::Value::Null);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActionRecord {
    /// The number, which grows over the whole conversation. 0 until [`RuntimeState::record`](super::RuntimeState::record)
    /// assigns it.
    pub id: u64,
    /// The node.
    pub node: String,
    /// The preparation, for example the arguments of a tool.
    pub preparation: String,
    /// The summary, in a sentence.
    pub summary: String,
    /// The result.
    pub result: Value,
    /// The result as later steps use it; `None` if it is of no later use.
    pub context: Option<ActionContext>,
    /// The relevance of the result.
    pub relevance: Relevance,
    /// The model calls of the action.
    pub usage: UsageTracker,
    /// The names of the nodes that come next.
    pub next: Vec<String>,
}

impl ActionRecord {
    /// Creates the record of a node without a result.
    pub fn new(node: impl Into<String>) -> Self {
        Self {
            id: 0,
            node: node.into(),
            preparation: String::new(),
            summary: String::new(),
            result: Value::Null,
            context: None,
            relevance: Relevance::default(),
            usage: UsageTracker::default(),
            next: Vec::new(),
        }
    }

    /// Sets what was prepared.
    #[must_use]
    pub fn with_preparation(mut self, preparation: impl Into<String>) -> Self {
        self.preparation = preparation.into();
        self
    }

    /// Sets what was done.
    #[must_use]
    pub fn with_summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Sets the result.
    #[must_use]
    pub fn with_result(mut self, result: impl Into<Value>) -> Self {
        self.result = result.into();
        self
    }

    /// Sets the result as later steps use it.
    #[must_use]
    pub fn with_context(mut self, context: ActionContext) -> Self {
        self.context = Some(context);
        self
    }

    /// Sets the relevance of the result.
    #[must_use]
    pub fn with_relevance(mut self, relevance: Relevance) -> Self {
        self.relevance = relevance;
        self
    }

    /// Sets the model calls of the action.
    #[must_use]
    pub fn with_usage(mut self, usage: UsageTracker) -> Self {
        self.usage = usage;
        self
    }

    /// Adds a node that comes next.
    #[must_use]
    pub fn with_next(mut self, node: impl Into<String>) -> Self {
        self.next.push(node.into());
        self
    }
}
