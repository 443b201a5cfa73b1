//! [`RouterResult`]: the decision of a router.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::staged::{IntentRoute, RouteTexts};

/// The decision of a router: an answer, or a brief and skills for the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawResult")]
#[non_exhaustive]
pub struct RouterResult {
    /// Whether the request is answered, or needs the worker.
    pub route: IntentRoute,
    /// A summary of what the user wants.
    pub intent_summary: String,
    /// The answer. Always present if the request is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant_text: Option<String>,
    /// The brief for the worker. Always present if the request needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_brief: Option<String>,
    /// The names of the skills that the worker needs.
    pub skills: Vec<String>,
    /// Concerns about the request.
    pub safety_flags: Vec<String>,
}

/// A [`RouterResult`] that has not been checked.
#[derive(Deserialize)]
struct RawResult {
    route: IntentRoute,
    intent_summary: String,
    assistant_text: Option<String>,
    execution_brief: Option<String>,
    #[serde(default)]
    skills: Vec<String>,
    #[serde(default)]
    safety_flags: Vec<String>,
}

impl TryFrom<RawResult> for RouterResult {
    type Error = &'static str;

    fn try_from(raw: RawResult) -> Result<Self, Self::Error> {
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
            skills: raw.skills,
            safety_flags: raw.safety_flags,
        })
    }
}

/// Returns the schema of a decision with a choice of these skills.
pub(super) fn router_schema(skills: &[String]) -> Value {
    let skill = match skills {
        [] => json!({"type": "array", "items": {"type": "string"}, "maxItems": 0}),
        skills => json!({"type": "array", "items": {"type": "string", "enum": skills}}),
    };
    json!({
        "title": "RouterResult",
        "type": "object",
        "properties": {
            "route": {"type": "string", "enum": ["DIRECT_EXECUTION", "NEEDS_EXECUTION"]},
            "intent_summary": {"type": "string"},
            "assistant_text": {"type": ["string", "null"]},
            "execution_brief": {"type": ["string", "null"]},
            "skills": skill,
            "safety_flags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["route", "intent_summary", "assistant_text", "execution_brief", "skills", "safety_flags"],
        "additionalProperties": false,
    })
}
