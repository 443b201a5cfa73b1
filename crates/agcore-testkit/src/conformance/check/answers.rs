//! Answers arrive unchanged.

use agcore_chat::{AssistantMessage, ChatResponse, FinishReason, Usage};

use crate::conformance::{
    answer::{Answer, Slicing},
    check_context::CheckContext,
    check_error::{CheckError, ensure, ensure_equal},
    expectations::{expect_answer, expect_message},
    mode::Mode,
    scenario::Scenario,
};

/// Several scripts and writing directions, combined characters, and characters that are special in JSON or event
/// streams.
const SCRIPTS: &str = "Grüße, \u{65E5}\u{672C}\u{8A9E}, \u{43F}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{5E9}\u{5DC}\u{5D5}\u{5DD} \
    \u{1F469}\u{200D}\u{1F680} e\u{301} \u{2028}\"quoted\" \\back\\ {\"json\": [1]}\tdata: [DONE]\r\n\n";

/// Makes the text longer than a single read from a loopback connection usually returns.
const REPEATS: usize = 200;

pub(super) async fn plain_text(context: CheckContext<'_>) -> Result<(), CheckError> {
    arrives(context, Answer::text("One two three, and a last word."))
        .await
        .map(drop)
}

pub(super) async fn unicode_text(context: CheckContext<'_>) -> Result<(), CheckError> {
    let answer = Answer::text(SCRIPTS.repeat(REPEATS)).with_slicing(Slicing::Odd);
    arrives(context, answer).await.map(drop)
}

pub(super) async fn empty(context: CheckContext<'_>) -> Result<(), CheckError> {
    arrives(context, Answer::text("")).await.map(drop)
}

pub(super) async fn length_limit(context: CheckContext<'_>) -> Result<(), CheckError> {
    let answer = Answer::text("So far, and then").with_finish(FinishReason::Length);
    arrives(context, answer).await.map(drop)
}

pub(super) async fn refusal(context: CheckContext<'_>) -> Result<(), CheckError> {
    let message = AssistantMessage {
        refusal: Some("I will not help with that.".to_owned()),
        ..AssistantMessage::default()
    };
    let answer = Answer::new(message).with_finish(FinishReason::Refusal);
    arrives(context, answer).await.map(drop)
}

pub(super) async fn usage_details(context: CheckContext<'_>) -> Result<(), CheckError> {
    let mut expected = Usage::new(1200, 340);
    expected.prompt_tokens_details.cached_tokens = Some(1000);
    expected.completion_tokens_details.reasoning_tokens = Some(300);
    let response = arrives(context, Answer::text("Counted.").with_usage(expected.clone())).await?;
    let usage = response
        .usage
        .ok_or_else(|| CheckError::fail("the token usage is missing"))?;
    ensure_equal("prompt tokens", &usage.prompt_tokens, &expected.prompt_tokens)?;
    ensure_equal(
        "generated tokens",
        &usage.completion_tokens,
        &expected.completion_tokens,
    )?;
    ensure_equal("total tokens", &usage.total(), &expected.total())?;
    ensure_equal("cached tokens", &usage.cached(), &expected.cached())?;
    ensure_equal("reasoning tokens", &usage.reasoning(), &expected.reasoning())
}

pub(super) async fn unknown_usage(context: CheckContext<'_>) -> Result<(), CheckError> {
    let response = arrives(context, Answer::text("Not counted.")).await?;
    let usage = response.usage.unwrap_or_default();
    let counts = [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens];
    ensure(counts == [None; 3], || {
        format!("the server reported no token usage, but the response contains {usage}")
    })
}

pub(super) async fn same_in_both_forms(context: CheckContext<'_>) -> Result<(), CheckError> {
    let message =
        AssistantMessage::new("Both ways.").with_call(agcore_chat::ToolCall::function("callOne01", "look", "{}"));
    let scenario = Scenario::answer(Answer::new(message).with_usage(Usage::new(7, 3)));
    let whole = CheckContext {
        mode: Mode::Whole,
        ..context
    };
    let [whole, streamed] = [
        whole.ask(&scenario).await?.into_response()?,
        context.ask(&scenario).await?.into_response()?,
    ];
    let [first, second] = [only_message(&streamed)?, only_message(&whole)?];
    expect_message(first, second)?;
    ensure_equal("finish reason", &streamed.finish_reason(), &whole.finish_reason())?;
    ensure_equal("usage", &streamed.usage, &whole.usage)
}

fn only_message(response: &ChatResponse) -> Result<&AssistantMessage, CheckError> {
    response
        .message()
        .ok_or_else(|| CheckError::fail("the response contains no message"))
}

/// Makes the server give an answer and compares the response with it.
async fn arrives(context: CheckContext<'_>, answer: Answer) -> Result<ChatResponse, CheckError> {
    let scenario = Scenario::answer(answer.clone());
    let response = context.ask(&scenario).await?.into_response()?;
    expect_answer(&response, &answer)?;
    Ok(response)
}
