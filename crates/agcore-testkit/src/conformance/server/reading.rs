//! From a request of the mock server to the vocabulary.

use agcore_chat::{AssistantMessage, ChatRequest, Message, Tool, ToolCall, ToolDefinition};

use super::super::stage::SeenRequest;
use crate::mock_server::{OfferedTool, RecordedRequest, Role, Turn};

/// The request as the server read it, with its bytes.
pub(super) fn read(request: &RecordedRequest) -> SeenRequest {
    let prompt = request.prompt();
    let tools: Vec<Tool> = prompt.tools.iter().map(tool).collect();
    let seen = ChatRequest::new(prompt.turns.iter().map(message))
        .with_model(prompt.model)
        .with_tools(tools);
    SeenRequest::new(seen).with_body(request.body().to_vec())
}

fn message(turn: &Turn) -> Message {
    match turn.role {
        Role::System => Message::system(turn.text.as_str()),
        Role::User => Message::user(turn.text.as_str()),
        Role::Tool => Message::tool(turn.answers.clone().unwrap_or_default(), turn.text.as_str()),
        Role::Assistant => {
            let call = |call: &crate::mock_server::ToolCall| ToolCall::function(&call.id, &call.name, &call.arguments);
            let calls = turn.calls.iter().map(call);
            calls
                .fold(AssistantMessage::new(&turn.text), AssistantMessage::with_call)
                .into()
        }
    }
}

fn tool(tool: &OfferedTool) -> Tool {
    ToolDefinition::new(&tool.name, &tool.description, tool.parameters.clone()).into()
}
