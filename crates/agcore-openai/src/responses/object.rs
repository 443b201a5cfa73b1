//! [`ResponseFacts`]: what a response has beside its output.

use agcore_chat::ToolDefinition;
use serde_json::{Map, Value, json};

use crate::{
    error::ApiError,
    ids::ResponseId,
    reply::{Outcome, ReplyEnd, responses_usage},
};

/// The facts of a response that its run does not report.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResponseFacts {
    /// The id: a run of a thread.
    pub id: ResponseId,
    /// The name of the agent.
    pub model: String,
    /// The id of the response that this one continues.
    pub previous: Option<String>,
    /// Whether the client does not wait for the answer.
    pub background: bool,
    /// The tools that the client offers.
    pub tools: Vec<ToolDefinition>,
    /// Data of the client.
    pub metadata: Map<String, Value>,
}

impl ResponseFacts {
    /// Creates the facts of a response of an agent.
    pub fn new(id: ResponseId, model: impl Into<String>) -> Self {
        Self {
            id,
            model: model.into(),
            previous: None,
            background: false,
            tools: Vec::new(),
            metadata: Map::new(),
        }
    }

    /// Sets the id of the response that this one continues.
    #[must_use]
    pub fn with_previous(mut self, previous: Option<String>) -> Self {
        self.previous = previous;
        self
    }

    /// Sets whether the client does not wait for the answer.
    #[must_use]
    pub fn with_background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// Sets the tools that the client offers.
    #[must_use]
    pub fn with_tools(mut self, tools: Vec<ToolDefinition>) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the data of the client.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata = metadata;
        self
    }

    /// Returns the object of a response with an output, which has ended like this or continues.
    pub(super) fn to_value(&self, created: u64, output: &[Value], end: Option<&ReplyEnd>) -> Value {
        let (status, error, reason) = status(end);
        let tools = self.tools.iter().map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": false,
            })
        });
        json!({
            "id": self.id.encode(),
            "object": "response",
            "created_at": created,
            "status": status,
            "background": self.background,
            "error": error,
            "incomplete_details": reason.map(|reason| json!({"reason": reason})),
            "instructions": null,
            "max_output_tokens": null,
            "model": self.model,
            "output": output,
            "parallel_tool_calls": true,
            "previous_response_id": self.previous,
            "reasoning": {"effort": null, "summary": null},
            "store": true,
            "temperature": null,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": tools.collect::<Vec<_>>(),
            "top_p": null,
            "truncation": "disabled",
            "usage": end.map_or(Value::Null, responses_usage),
            "metadata": self.metadata,
        })
    }
}

/// Returns the status, the error, and why a response is incomplete.
fn status(end: Option<&ReplyEnd>) -> (&'static str, Value, Option<&'static str>) {
    let Some(end) = end else {
        return ("in_progress", Value::Null, None);
    };
    match (&end.outcome, end.cut_off.as_deref()) {
        (Outcome::Waiting(_), _) => ("in_progress", Value::Null, None),
        (Outcome::Cancelled, _) => ("cancelled", Value::Null, None),
        (Outcome::Failed { code, message }, _) => {
            let error = ApiError::new(500, code, message).to_inner();
            (
                "failed",
                json!({"code": error["code"], "message": error["message"]}),
                None,
            )
        }
        (Outcome::Completed, Some("length")) => ("incomplete", Value::Null, Some("max_output_tokens")),
        (Outcome::Completed, Some("content_filter")) => ("incomplete", Value::Null, Some("content_filter")),
        (Outcome::Completed, _) => ("completed", Value::Null, None),
    }
}
