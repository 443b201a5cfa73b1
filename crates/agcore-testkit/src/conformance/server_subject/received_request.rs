//! Converting a request of the mock server into a [`ReceivedRequest`].

use agcore_chat::{AssistantMessage, ChatRequest, Message, Tool, ToolCall, ToolDefinition};

use crate::{
    conformance::fixture::ReceivedRequest,
    mock_server::{self, OfferedTool, RecordedRequest, Role, Turn},
};

/// Converts a request, keeping the bytes of its body.
pub(super) fn received_request(request: &RecordedRequest) -> ReceivedRequest {
    let prompt = request.prompt();
    let tools: Vec<Tool> = prompt.tools.iter().map(tool).collect();
    let chat_request = ChatRequest::new(prompt.turns.iter().map(message))
        .with_model(prompt.model)
        .with_tools(tools);
    ReceivedRequest::new(chat_request).with_body(request.body().to_vec())
}

fn message(turn: &Turn) -> Message {
    match turn.role {
        Role::System => Message::system(turn.text.as_str()),
        Role::User => Message::user(turn.text.as_str()),
        Role::Tool => Message::tool(turn.tool_call_id.clone().unwrap_or_default(), turn.text.as_str()),
        Role::Assistant => {
            let call = |call: &mock_server::ToolCall| ToolCall::function(&call.id, &call.name, &call.arguments);
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
