//! [`ClientTool`]: a tool that the client of an agent runs.

use agcore_chat::{ClientResult, ToolAnnotations, ToolDefinition};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::{
    arguments::Arguments,
    context::ToolContext,
    error::ToolError,
    output::{InputRequest, OutputBody, ToolOutput},
    tool::BaseTool,
};

/// A tool that the client of an agent offers and runs itself, such as a front end that fills in a form or shows a map.
///
/// A call of it runs nothing here. Its arguments are validated like those of any tool, and rules of permissions apply to it. Then
/// the turn is suspended with a question of the kind [`QuestionKind::Client`](agcore_chat::QuestionKind::Client), until the client
/// answers with a [`ClientResult`]. So a call waits for its client as durably as for a person, also in another process.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ClientResult, QuestionKind, ToolCall, ToolDefinition, ToolOutcome, ToolWork};
/// use agcore_tools::{ClientTool, SystemClock, ToolContext, ToolError, ToolRegistry};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
/// let tools = ToolRegistry::new();
/// tools.register(ClientTool::new(ToolDefinition::new("show_map", "Shows a map.", schema)))?;
/// let executor = tools.executor(ToolContext::builder(Arc::new(SystemClock::new())).build()).build()?;
///
/// let call = ToolCall::function("call_1", "show_map", r#"{"city": "Rome"}"#);
/// let (ToolOutcome::Ask(question), _) = executor.settle(ToolWork::new(call.clone())).await else { panic!() };
/// assert_eq!((question.kind, &question.arguments), (QuestionKind::Client, &json!({"city": "Rome"})));
///
/// let answered = ToolWork::resumed(call, *question, ClientResult::text("shown").into_answer());
/// assert_eq!(executor.settle(answered).await.0, ToolOutcome::done("shown"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClientTool {
    name: String,
    description: String,
    parameters: Value,
}

impl ClientTool {
    /// Creates a tool from what the client states. Without parameters, the tool takes no arguments.
    pub fn new(definition: ToolDefinition) -> Self {
        let parameters = definition.parameters.unwrap_or_default();
        let is_empty = parameters.as_object().is_none_or(Map::is_empty);
        Self {
            name: definition.name,
            description: definition.description.unwrap_or_default(),
            parameters: match is_empty {
                true => json!({"type": "object", "properties": {}}),
                false => parameters,
            },
        }
    }
}

#[async_trait]
impl BaseTool for ClientTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    fn annotations(&self) -> ToolAnnotations {
        // A call that is repeated only asks the client again.
        ToolAnnotations::default().with_idempotent(true)
    }

    fn is_run_by_client(&self) -> bool {
        true
    }

    async fn execute(&self, _: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Some(answer) = context.answer() else {
            let request = InputRequest::for_client(format!("The client runs `{}`.", self.name));
            return Ok(ToolOutput::awaiting_input(request));
        };
        match ClientResult::from_value(answer.value.clone()) {
            ClientResult::Done(content) => Ok(ToolOutput::new(OutputBody::Rich {
                content,
                structured: None,
            })),
            ClientResult::Failed(message) => Err(ToolError::failed(message)),
        }
    }
}
