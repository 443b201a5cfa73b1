//! Reasoning stays separate from text, both in replies and when it is sent back.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Block, ChatRequest, Message, Reasoning, Tool, ToolCall, ToolDefinition};
use serde_json::json;

use crate::conformance::{
    answer::Answer,
    check_context::CheckContext,
    check_error::{CheckError, ensure, ensure_equal},
    expectations::{call_view, expect_answer},
    scenario::Scenario,
};

pub(super) async fn apart(context: CheckContext<'_>) -> Result<(), CheckError> {
    let blocks = [Block::reasoning("Two and two are four."), Block::text("Four.")];
    let answer = Answer::new(AssistantMessage::from_blocks(blocks));
    let response = context.ask(&Scenario::answer(answer.clone())).await?.into_response()?;
    expect_answer(&response, &answer)
}

/// Verifies that a reply is sent back with its call and without reasoning in its text. What else a vendor requires back
/// verbatim is specific to that vendor.
pub(super) async fn sent_back(context: CheckContext<'_>) -> Result<(), CheckError> {
    let message = AssistantMessage::new("")
        .with_reasoning(Reasoning::new("I need the weather."))
        .with_call(ToolCall::function("callOne01", "weather", r#"{"city":"Lisbon"}"#));
    let setup = context.set_up(&Scenario::answer(Answer::new(message))).await?;
    let first = ChatRequest::new([Message::user("How is it in Lisbon?")]).with_tools([weather()]);
    let response = setup.ask(setup.call_with(first.clone())).await?.into_response()?;
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
    setup.ask(setup.call_with(second)).await?.into_response()?;

    let received = setup.requests()?;
    let received = received
        .last()
        .ok_or_else(|| CheckError::fail("the server received no request"))?;
    let [_, sent_back, result] = &received.request.messages[..] else {
        let count = received.request.messages.len();
        return Err(CheckError::Fail(format!(
            "the server received {count} messages, expected 3"
        )));
    };
    let sent_back = sent_back
        .as_assistant()
        .ok_or_else(|| CheckError::fail("the reply was not sent back"))?;
    ensure_equal("text of the reply", &*sent_back.text(), "")?;
    let calls: Vec<_> = sent_back.tool_calls().map(call_view).collect();
    let expected = ("callOne01".to_owned(), "weather".to_owned(), json!({"city": "Lisbon"}));
    ensure_equal("calls of the reply", &calls, &vec![expected])?;
    ensure(
        matches!(&**result, Message::Tool(tool) if tool.tool_call_id == "callOne01"),
        || format!("the result does not answer the call: {result:?}"),
    )
}

fn weather() -> Tool {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    ToolDefinition::new("weather", "The weather of a city.", schema).into()
}
