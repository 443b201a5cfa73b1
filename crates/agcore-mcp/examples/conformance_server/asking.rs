//! Tools that ask the client.

use std::sync::Arc;

use agcore_chat::Message;
use agcore_mcp::{ElicitationAnswer, McpPeer, SampleRequest};
use agcore_tools::{
    NoArguments, Registration, ToolContext, ToolError,
    schemars::{self, JsonSchema},
    tools, typed,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The argument of two tools.
#[derive(Deserialize, JsonSchema)]
struct Sampling {
    /// The prompt to send to the LLM.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Asking {
    /// The message to show the user.
    message: String,
}

/// Returns the client, which every call over MCP has.
pub(crate) fn client(context: &ToolContext) -> Result<Arc<McpPeer>, ToolError> {
    let client = context.extension::<McpPeer>();
    client.ok_or_else(|| ToolError::failed("this tool works only over MCP"))
}

async fn ask(context: &ToolContext, message: &str, schema: Value) -> Result<String, ToolError> {
    let client = client(context)?;
    match context
        .wait_for_person(client.elicit("answer", message, schema))
        .await?
    {
        ElicitationAnswer::Accept(answer) => Ok(format!("action=accept, content={}", Value::Object(answer))),
        ElicitationAnswer::Decline => Ok("action=decline".to_owned()),
        _ => Ok("action=cancel".to_owned()),
    }
}

pub(crate) fn asking_tools() -> [Registration; 2] {
    tools![
        typed(
            "test_sampling",
            "Asks the client's model.",
            |call: Sampling, context: ToolContext| async move {
                let answer = client(&context)?
                    .sample("answer", SampleRequest::new([Message::user(call.prompt)], 100))
                    .await?;
                Ok(format!("LLM response: {}", answer.text))
            }
        ),
        typed(
            "test_elicitation",
            "Asks the user.",
            |call: Asking, context: ToolContext| async move {
                let schema = json!({"type": "object", "properties": {
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            }, "required": ["username", "email"]});
                Ok(format!(
                    "User response: {}",
                    ask(&context, &call.message, schema).await?
                ))
            }
        ),
    ]
}

pub(crate) fn form_tools() -> [Registration; 2] {
    tools![
        typed(
            "test_elicitation_sep1034_defaults",
            "Asks.",
            |_: NoArguments, context: ToolContext| async move {
                let schema = json!({"type": "object", "properties": {
                    "name": {"type": "string", "default": "John Doe"},
                    "age": {"type": "integer", "default": 30},
                    "score": {"type": "number", "default": 95.5},
                    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                    "verified": {"type": "boolean", "default": true},
                }});
                Ok(format!(
                    "Elicitation completed: {}",
                    ask(&context, "Please check.", schema).await?
                ))
            }
        ),
        typed(
            "test_elicitation_sep1330_enums",
            "Asks.",
            |_: NoArguments, context: ToolContext| async move {
                let titled =
                    |names: [(&str, &str); 3]| names.map(|(value, title)| json!({"const": value, "title": title}));
                let first = titled([
                    ("value1", "First Option"),
                    ("value2", "Second Option"),
                    ("value3", "Third Option"),
                ]);
                let many = titled([
                    ("value1", "First Choice"),
                    ("value2", "Second Choice"),
                    ("value3", "Third Choice"),
                ]);
                let options = ["option1", "option2", "option3"];
                let schema = json!({"type": "object", "properties": {
                    "untitledSingle": {"type": "string", "enum": options},
                    "titledSingle": {"type": "string", "oneOf": first},
                    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                        "enumNames": ["Option One", "Option Two", "Option Three"]},
                    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
                    "titledMulti": {"type": "array", "items": {"anyOf": many}},
                }});
                Ok(format!(
                    "Elicitation completed: {}",
                    ask(&context, "Please choose.", schema).await?
                ))
            }
        ),
    ]
}
