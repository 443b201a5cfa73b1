//! Tools for the revision without sessions, in which a call that asks is repeated with the answer.

use std::sync::Arc;

use agcore_chat::{Message, Progress};
use agcore_mcp::{ElicitationAnswer, McpError, McpPeer, SampleRequest};
use agcore_tools::{NoArguments, Registration, ToolContext, ToolError, ToolRegistry, tools, typed};
use serde_json::{Map, Value, json};

use crate::asking::client;

/// Asks for one member, and returns what the person entered.
async fn ask(
    client: &McpPeer,
    key: &str,
    message: &str,
    name: &str,
    kind: &str,
) -> Result<Map<String, Value>, ToolError> {
    let schema = json!({"type": "object", "properties": {name: {"type": kind}}, "required": [name]});
    match client.elicit(key, message, schema).await? {
        ElicitationAnswer::Accept(answer) => Ok(answer),
        _ => Err(ToolError::failed("the person did not answer")),
    }
}

async fn capital(client: &McpPeer) -> Result<String, McpError> {
    let question = Message::user("What is the capital of France?");
    let answer = client
        .sample("capital_question", SampleRequest::new([question], 100))
        .await?;
    Ok(answer.text)
}

/// Asks for everything at once.
async fn ask_all(client: Arc<McpPeer>) -> Result<String, ToolError> {
    let greeting = SampleRequest::new([Message::user("Generate a greeting")], 50);
    let (name, greeting, roots) = tokio::join!(
        ask(&client, "user_name", "What is your name?", "name", "string"),
        client.sample("greeting", greeting),
        client.roots("client_roots"),
    );
    Ok(format!("{} {} {}", name?["name"], greeting?.text, roots?.join(" ")))
}

/// Asks for whatever the client can answer.
async fn ask_able(client: Arc<McpPeer>) -> Result<String, ToolError> {
    let mut answers = Vec::new();
    if client.can_elicit() {
        answers.push(ask(&client, "name", "What is your name?", "name", "string").await?["name"].to_string());
    }
    if client.can_sample() {
        answers.push(capital(&client).await?);
    }
    if client.can_list_roots() {
        answers.extend(client.roots("roots").await?);
    }
    Ok(answers.join(" "))
}

pub(crate) fn input_tools() -> [Registration; 6] {
    tools![
        typed(
            "test_input_required_result_elicitation",
            "Asks for a name.",
            |_: NoArguments, context: ToolContext| async move {
                let question = "What is your name?";
                let answer = ask(&*client(&context)?, "user_name", question, "name", "string").await?;
                Ok(format!("Hello, {}!", answer["name"].as_str().unwrap_or_default()))
            }
        ),
        typed(
            "test_input_required_result_sampling",
            "Asks the client's model.",
            |_: NoArguments, context: ToolContext| async move { Ok(capital(&*client(&context)?).await?) }
        ),
        typed(
            "test_input_required_result_list_roots",
            "Asks for folders.",
            |_: NoArguments, context: ToolContext| async move {
                Ok(client(&context)?.roots("client_roots").await?.join(" "))
            }
        ),
        typed(
            "test_input_required_result_multiple_inputs",
            "Asks for everything.",
            |_: NoArguments, context: ToolContext| async move { ask_all(client(&context)?).await }
        ),
        typed(
            "test_input_required_result_capabilities",
            "Asks for what the client offers.",
            |_: NoArguments, context: ToolContext| async move { ask_able(client(&context)?).await }
        ),
        typed(
            "test_missing_capability",
            "Needs the client's model.",
            |_: NoArguments, context: ToolContext| async move { Ok(capital(&*client(&context)?).await?) }
        ),
    ]
}

pub(crate) fn round_tools(registry: &ToolRegistry) -> [Registration; 5] {
    let registry = registry.clone();
    let confirm = |context: ToolContext| async move {
        ask(&*client(&context)?, "confirm", "Please confirm", "ok", "boolean").await?;
        Ok::<_, ToolError>("state-ok")
    };
    tools![
        typed(
            "test_input_required_result_request_state",
            "Asks once.",
            move |_: NoArguments, context: ToolContext| confirm(context)
        ),
        typed(
            "test_input_required_result_tampered_state",
            "Asks once.",
            move |_: NoArguments, context: ToolContext| confirm(context)
        ),
        typed(
            "test_input_required_result_multi_round",
            "Asks twice.",
            |_: NoArguments, context: ToolContext| async move {
                let client = client(&context)?;
                let name = ask(&client, "step1", "Step 1: What is your name?", "name", "string").await?;
                let question = "Step 2: What is your favorite color?";
                let color = ask(&client, "step2", question, "color", "string").await?;
                Ok(format!("{} likes {}", name["name"], color["color"]))
            }
        ),
        typed(
            "test_streaming_elicitation",
            "Reports progress and asks.",
            |_: NoArguments, context: ToolContext| async move {
                context.report_progress(Progress::message("asking"));
                ask(&*client(&context)?, "confirm", "Please confirm", "ok", "boolean").await?;
                Ok("done")
            }
        ),
        typed(
            "test_trigger_tool_change",
            "Changes the list of tools.",
            move |_: NoArguments| {
                let registry = registry.clone();
                async move {
                    let new = typed("test_new_tool", "Is new.", |_: NoArguments| async { Ok(()) });
                    match registry.get("test_new_tool") {
                        None => registry.register(new)?,
                        Some(_) => drop(registry.unregister("test_new_tool")),
                    }
                    Ok("changed")
                }
            }
        ),
    ]
}
