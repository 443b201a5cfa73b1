//! The results of the stages, with the schemas by which models are asked for them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The result of the intent recognition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawIntent")]
#[non_exhaustive]
pub struct IntentResult {
    /// Whether the request is answered, or needs the other stages.
    pub route: IntentRoute,
    /// A summary of what the user wants.
    pub intent_summary: String,
    /// The answer. Always present if the request is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant_text: Option<String>,
    /// The brief for the execution. Always present if the request needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_brief: Option<String>,
    /// Concerns about the request.
    pub safety_flags: Vec<String>,
}

/// The route that the intent recognition chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum IntentRoute {
    /// The request is answered.
    DirectExecution,
    /// The request needs the execution.
    NeedsExecution,
}

/// The result of the execution: facts and structured results, not the final wording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExecutionResult {
    /// Whether the task was done.
    pub status: ExecutionStatus,
    /// A summary of what was done.
    pub execution_summary: String,
    /// The results.
    pub execution_data: Map<String, Value>,
    /// The brief for the report.
    pub report_brief: String,
    /// The error, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

/// Whether a task was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ExecutionStatus {
    /// It was done.
    Success,
    /// A part of it was done.
    Partial,
    /// It failed.
    Failed,
}

/// The result of the reporting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrganizationResult {
    /// The text for the user.
    pub assistant_text: String,
    /// Data about the text for the application.
    pub response_metadata: Map<String, Value>,
}

impl OrganizationResult {
    /// Returns the result of a stage that writes a text.
    pub(super) fn of_text(text: String) -> Self {
        Self {
            assistant_text: text,
            response_metadata: Map::new(),
        }
    }
}

/// An [`IntentResult`] that has not been checked.
#[derive(Deserialize)]
struct RawIntent {
    route: IntentRoute,
    intent_summary: String,
    assistant_text: Option<String>,
    execution_brief: Option<String>,
    #[serde(default)]
    safety_flags: Vec<String>,
}

impl TryFrom<RawIntent> for IntentResult {
    type Error = &'static str;

    fn try_from(raw: RawIntent) -> Result<Self, Self::Error> {
        RouteTexts {
            route: raw.route,
            answer: raw.assistant_text.as_deref(),
            brief: raw.execution_brief.as_deref(),
        }
        .check()?;
        Ok(Self {
            route: raw.route,
            intent_summary: raw.intent_summary,
            assistant_text: raw.assistant_text,
            execution_brief: raw.execution_brief,
            safety_flags: raw.safety_flags,
        })
    }
}

/// A route with the text that it needs.
pub(crate) struct RouteTexts<'a> {
    pub(crate) route: IntentRoute,
    pub(crate) answer: Option<&'a str>,
    pub(crate) brief: Option<&'a str>,
}

impl RouteTexts<'_> {
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let is_missing = |text: Option<&str>| text.is_none_or(|text| text.trim().is_empty());
        match self.route {
            IntentRoute::DirectExecution if is_missing(self.answer) => {
                Err("`assistant_text` is required with the route DIRECT_EXECUTION")
            }
            IntentRoute::NeedsExecution if is_missing(self.brief) => {
                Err("`execution_brief` is required with the route NEEDS_EXECUTION")
            }
            _ => Ok(()),
        }
    }
}

impl IntentRoute {
    /// Returns the name of the route.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DirectExecution => "DIRECT_EXECUTION",
            Self::NeedsExecution => "NEEDS_EXECUTION",
        }
    }
}

pub(super) fn intent_schema() -> Value {
    json!({
        "title": "IntentResult",
        "type": "object",
        "properties": {
            "route": {"type": "string", "enum": ["DIRECT_EXECUTION", "NEEDS_EXECUTION"]},
            "intent_summary": {"type": "string"},
            "assistant_text": {"type": ["string", "null"]},
            "execution_brief": {"type": ["string", "null"]},
            "safety_flags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["route", "intent_summary", "assistant_text", "execution_brief", "safety_flags"],
        "additionalProperties": false,
    })
}

pub(super) fn execution_schema() -> Value {
    json!({
        "title": "ExecutionResult",
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": ["SUCCESS", "PARTIAL", "FAILED"]},
            "execution_summary": {"type": "string"},
            "execution_data": {"type": "object"},
            "report_brief": {"type": "string"},
            "error_message": {"type": ["string", "null"]},
        },
        "required": ["status", "execution_summary", "execution_data", "report_brief"],
    })
}

pub(super) fn organization_schema() -> Value {
    json!({
        "title": "OrganizationResult",
        "type": "object",
        "properties": {
            "assistant_text": {"type": "string"},
            "response_metadata": {"type": "object"},
        },
        "required": ["assistant_text", "response_metadata"],
    })
}
