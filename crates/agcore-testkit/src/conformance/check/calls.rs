//! Tool calls arrive whole, with their ids, in order.

use agcore_chat::{AssistantMessage, ToolCall};

use super::super::{answer::Answer, expected::expect_answer, halt::Halt, scenario::Scenario, scene::Trial};

pub(super) async fn one(trial: Trial<'_>) -> Result<(), Halt> {
    arrives(trial, message([weather("callOne01", "Lisbon")])).await
}

pub(super) async fn several(trial: Trial<'_>) -> Result<(), Halt> {
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
    arrives(trial, message(calls)).await
}

pub(super) async fn after_text(trial: Trial<'_>) -> Result<(), Halt> {
    let message = AssistantMessage::new("Let me look that up.").with_call(weather("callOne01", "Lisbon"));
    arrives(trial, message).await
}

fn message(calls: impl IntoIterator<Item = ToolCall>) -> AssistantMessage {
    AssistantMessage::from_blocks(calls.into_iter().map(Into::into))
}

fn weather(id: &str, city: &str) -> ToolCall {
    ToolCall::function(id, "weather", format!(r#"{{"city":"{city}"}}"#))
}

async fn arrives(trial: Trial<'_>, message: AssistantMessage) -> Result<(), Halt> {
    let answer = Answer::new(message);
    let response = trial.hear(&Scenario::answer(answer.clone())).await?.answer()?;
    expect_answer(&response, &answer)
}
