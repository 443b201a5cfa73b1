//! Reasoning stays apart from text, on its way here and on its way back.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Block, ChatRequest, Message, Reasoning, Tool, ToolCall, ToolDefinition};
use serde_json::json;

use super::super::{
    answer::Answer,
    expected::{call_view, expect_answer},
    halt::{Halt, ensure, same},
    scenario::Scenario,
    scene::Trial,
};

pub(super) async fn apart(trial: Trial<'_>) -> Result<(), Halt> {
    let blocks = [Block::reasoning("Two and two are four."), Block::text("Four.")];
    let answer = Answer::new(AssistantMessage::from_blocks(blocks));
    let response = trial.hear(&Scenario::answer(answer.clone())).await?.answer()?;
    expect_answer(&response, &answer)
}

/// What a vendor wants back verbatim is its own; that a reply goes back at all, with its call and without its thoughts
/// in the text, is everybody's.
pub(super) async fn sent_back(trial: Trial<'_>) -> Result<(), Halt> {
    let said = AssistantMessage::new("")
        .with_reasoning(Reasoning::new("I need the weather."))
        .with_call(ToolCall::function("callOne01", "weather", r#"{"city":"Lisbon"}"#));
    let scene = trial.scene(&Scenario::answer(Answer::new(said))).await?;
    let first = ChatRequest::new([Message::user("How is it in Lisbon?")]).with_tools([weather()]);
    let response = scene.hear(scene.call_of(first.clone())).await?.answer()?;
    let reply = response.message().cloned().unwrap_or_default();
    let id = reply
        .tool_calls()
        .next()
        .map(|call| call.id.clone())
        .unwrap_or_default();

    let mut second = first;
    second
        .messages
        .extend([Message::from(reply), Message::tool(id, "sunny")].map(Arc::new));
    scene.hear(scene.call_of(second)).await?.answer()?;

    let seen = scene.requests()?;
    let seen = seen.last().ok_or_else(|| Halt::fail("the server saw no request"))?;
    let [_, back, result] = &seen.request.messages[..] else {
        let count = seen.request.messages.len();
        return Err(Halt::Fail(format!("the server saw {count} messages, expected 3")));
    };
    let back = back
        .as_assistant()
        .ok_or_else(|| Halt::fail("the reply did not come back"))?;
    same("text of the reply", &*back.text(), "")?;
    let calls: Vec<_> = back.tool_calls().map(call_view).collect();
    let expected = ("callOne01".to_owned(), "weather".to_owned(), json!({"city": "Lisbon"}));
    same("calls of the reply", &calls, &vec![expected])?;
    ensure(
        matches!(&**result, Message::Tool(tool) if tool.tool_call_id == "callOne01"),
        || format!("the result does not answer the call: {result:?}"),
    )
}

fn weather() -> Tool {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    ToolDefinition::new("weather", "The weather of a city.", schema).into()
}
