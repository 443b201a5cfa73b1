//! What a server says arrives as it was said.

use agcore_chat::{AssistantMessage, ChatResponse, FinishReason, Usage};

use super::super::{
    answer::{Answer, Slicing},
    expected::{expect_answer, expect_message},
    halt::{Halt, ensure, same},
    mode::Mode,
    scenario::Scenario,
    scene::Trial,
};

/// Scripts, directions, combined characters and what JSON or lines could trip over.
const SCRIPTS: &str = "Grüße, \u{65E5}\u{672C}\u{8A9E}, \u{43F}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{5E9}\u{5DC}\u{5D5}\u{5DD} \
    \u{1F469}\u{200D}\u{1F680} e\u{301} \u{2028}\"quoted\" \\back\\ {\"json\": [1]}\tdata: [DONE]\r\n\n";

/// So often, the text is longer than any one packet on loopback's usual reads.
const REPEATS: usize = 200;

pub(super) async fn plain_text(trial: Trial<'_>) -> Result<(), Halt> {
    arrives(trial, Answer::text("One two three, and a last word."))
        .await
        .map(drop)
}

pub(super) async fn unicode_text(trial: Trial<'_>) -> Result<(), Halt> {
    let answer = Answer::text(SCRIPTS.repeat(REPEATS)).with_slicing(Slicing::Odd);
    arrives(trial, answer).await.map(drop)
}

pub(super) async fn empty(trial: Trial<'_>) -> Result<(), Halt> {
    arrives(trial, Answer::text("")).await.map(drop)
}

pub(super) async fn length_limit(trial: Trial<'_>) -> Result<(), Halt> {
    let answer = Answer::text("So far, and then").with_finish(FinishReason::Length);
    arrives(trial, answer).await.map(drop)
}

pub(super) async fn refusal(trial: Trial<'_>) -> Result<(), Halt> {
    let message = AssistantMessage {
        refusal: Some("I will not help with that.".to_owned()),
        ..AssistantMessage::default()
    };
    let answer = Answer::new(message).with_finish(FinishReason::Refusal);
    arrives(trial, answer).await.map(drop)
}

pub(super) async fn usage_details(trial: Trial<'_>) -> Result<(), Halt> {
    let mut expected = Usage::new(1200, 340);
    expected.prompt_tokens_details.cached_tokens = Some(1000);
    expected.completion_tokens_details.reasoning_tokens = Some(300);
    let response = arrives(trial, Answer::text("Counted.").with_usage(expected.clone())).await?;
    let usage = response.usage.ok_or_else(|| Halt::fail("the tokens were lost"))?;
    same("prompt tokens", &usage.prompt_tokens, &expected.prompt_tokens)?;
    same(
        "generated tokens",
        &usage.completion_tokens,
        &expected.completion_tokens,
    )?;
    same("all tokens", &usage.total(), &expected.total())?;
    same("cached tokens", &usage.cached(), &expected.cached())?;
    same("reasoning tokens", &usage.reasoning(), &expected.reasoning())
}

pub(super) async fn unknown_usage(trial: Trial<'_>) -> Result<(), Halt> {
    let response = arrives(trial, Answer::text("Not counted.")).await?;
    let usage = response.usage.unwrap_or_default();
    let told = [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens];
    ensure(told == [None; 3], || {
        format!("the server told no tokens, and yet they are {usage}")
    })
}

pub(super) async fn same_in_both_forms(trial: Trial<'_>) -> Result<(), Halt> {
    let message =
        AssistantMessage::new("Both ways.").with_call(agcore_chat::ToolCall::function("callOne01", "look", "{}"));
    let scenario = Scenario::answer(Answer::new(message).with_usage(Usage::new(7, 3)));
    let whole = Trial {
        mode: Mode::Whole,
        ..trial
    };
    let [whole, streamed] = [
        whole.hear(&scenario).await?.answer()?,
        trial.hear(&scenario).await?.answer()?,
    ];
    let [first, second] = [only_message(&streamed)?, only_message(&whole)?];
    expect_message(first, second)?;
    same("finish reason", &streamed.finish_reason(), &whole.finish_reason())?;
    same("usage", &streamed.usage, &whole.usage)
}

fn only_message(response: &ChatResponse) -> Result<&AssistantMessage, Halt> {
    response
        .message()
        .ok_or_else(|| Halt::fail("a response without a message"))
}

/// Lets the server say it, and compares what arrived.
async fn arrives(trial: Trial<'_>, answer: Answer) -> Result<ChatResponse, Halt> {
    let scenario = Scenario::answer(answer.clone());
    let response = trial.hear(&scenario).await?.answer()?;
    expect_answer(&response, &answer)?;
    Ok(response)
}
