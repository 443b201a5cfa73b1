//! Tool calls arrive completely, with their ids, in order.

use agcore_chat::{AssistantMessage, ToolCall};

use crate::conformance::{
    answer::Answer, check_context::CheckContext, check_error::CheckError, expectations::expect_answer,
    scenario::Scenario,
};

pub(super) async fn one(context: CheckContext<'_>) -> Result<(), CheckError> {
    arrives(context, message([weather("callOne01", "Lisbon")])).await
}

pub(super) async fn several(context: CheckContext<'_>) -> Result<(), CheckError> {
    let calls = [
        weather("callOne01", "Lisbon"),
        ToolCall::function(
            "callTwo02",
            "search",
            r#"{"query":"\"a\\b\" \u00fc 日本","limits":{"most":3,"tags":[]}}"#,
        ),
        ToolCall::function("callTri03", "now", "{}"),
        weather("callQua04", "Oslo"),
    ];
    arrives(context, message(calls)).await
}

pub(super) async fn after_text(context: CheckContext<'_>) -> Result<(), CheckError> {
    let message = AssistantMessage::new("Let me look that up.").with_call(weather("callOne01", "Lisbon"));
    arrives(context, message).await
}

fn message(calls: impl IntoIterator<Item = ToolCall>) -> AssistantMessage {
    AssistantMessage::from_blocks(calls.into_iter().map(Into::into))
}

fn weather(id: &str, city: &str) -> ToolCall {
    ToolCall::function(id, "weather", format!(r#"{{"city":"{city}"}}"#))
}

async fn arrives(context: CheckContext<'_>, message: AssistantMessage) -> Result<(), CheckError> {
    let answer = Answer::new(message);
    let response = context.ask(&Scenario::answer(answer.clone())).await?.into_response()?;
    expect_answer(&response, &answer)
}
