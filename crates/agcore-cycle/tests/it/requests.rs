//! The contents of the requests of a turn: tools, their choice, and the continuation of paused replies.

use agcore_chat::{AssistantMessage, Block, ChatRequest, FinishReason, Message, ToolChoice, validate_messages};
use agcore_cycle::{
    CycleErrorKind, CycleSettings,
    machine::{Limits, RoundLimit},
};
use agcore_llm::{Capabilities, ProviderInfo};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

use crate::support::{FnExecutor, call, cycle, lines};

/// Returns a reply of this text that the server paused.
fn paused(text: &str) -> ScriptStep {
    ScriptStep::message(AssistantMessage::new(text), FinishReason::from("pause_turn"))
}

fn calling(rounds: usize) -> ScriptedProvider {
    let calls = (0..rounds).map(|round| ScriptStep::calls([call(&format!("c{round}"), "add", "{}")]));
    ScriptedProvider::new(calls.chain([ScriptStep::text("Done.")]))
}

#[tokio::test]
async fn a_forced_choice_applies_to_the_first_round_only() {
    for (choice, is_forced) in [
        (ToolChoice::Required, true),
        (ToolChoice::Function("add".into()), true),
        (ToolChoice::Auto, false),
    ] {
        for keeps in [false, true] {
            let provider = calling(2);
            let mut request = ChatRequest::default();
            request.tool_choice = Some(choice.clone());
            let settings = CycleSettings::new().with_request(request).with_kept_tool_choice(keeps);
            let mut cycle = cycle(&provider).with_settings(settings);
            for _ in 0..2 {
                cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
                let choices: Vec<_> = provider
                    .requests()
                    .iter()
                    .map(|request| request.tool_choice.clone())
                    .collect();
                let later = (keeps || !is_forced).then_some(choice.clone());
                assert_eq!(
                    choices[choices.len() - 3..],
                    [Some(choice.clone()), later.clone(), later]
                );
                provider.push(ScriptStep::calls([call("d", "add", "{}")]));
                provider.push(ScriptStep::calls([call("e", "add", "{}")]));
                provider.push(ScriptStep::text("Done."));
            }
        }
    }
}

#[tokio::test]
async fn the_last_request_keeps_the_tools_where_the_model_can_be_kept_from_calling_them() {
    for can_forbid in [true, false] {
        let mut capabilities = Capabilities::default();
        capabilities.none_tool_choice = can_forbid;
        let info = ProviderInfo::new("test", "m").with_capabilities(capabilities);
        let provider = calling(1).with_info(info);
        let limits = Limits::new()
            .with_max_tool_turns(1)
            .with_round_limit(RoundLimit::WrapUp);
        let mut cycle = cycle(&provider).with_settings(CycleSettings::new().with_limits(limits));
        cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
        let requests = provider.requests();
        if can_forbid {
            assert_eq!(requests[1].tools, requests[0].tools);
            assert_eq!(requests[1].tool_choice, Some(ToolChoice::None));
        } else {
            assert!(requests[1].tools.is_empty());
            assert_eq!(requests[1].tool_choice, None);
        }
    }
}

#[tokio::test]
async fn a_paused_reply_is_sent_back_and_continued() {
    let provider = ScriptedProvider::new([
        paused("I search."),
        paused(" Still."),
        ScriptStep::text(" Found."),
        ScriptStep::text("Hi."),
    ]);
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Search").await.unwrap();
    assert_eq!(outcome.report().unwrap().rounds, 2);
    let sent: Vec<Vec<String>> = provider
        .requests()
        .iter()
        .map(|request| {
            request
                .messages
                .iter()
                .map(|message| message.text().into_owned())
                .collect()
        })
        .collect();
    assert_eq!(sent[1], ["Search", "I search."]);
    assert_eq!(sent[2], ["Search", "I search. Still."]);
    // It is one reply in the history, with all its blocks.
    let Message::Assistant(reply) = &*cycle.messages()[1] else {
        panic!()
    };
    let texts = ["I search.", " Still.", " Found."].map(Block::text);
    assert_eq!(reply.blocks, texts);
    cycle.turn("Hello").await.unwrap();
    validate_messages(cycle.messages()).unwrap();
}

#[tokio::test]
async fn a_reply_that_pauses_too_often_reaches_the_round_limit() {
    for limit in [RoundLimit::Fail, RoundLimit::WrapUp] {
        let provider = ScriptedProvider::new((0..5).map(|_| paused("More.")));
        let limits = Limits::new().with_max_tool_turns(2).with_round_limit(limit);
        let mut cycle = cycle(&provider).with_settings(CycleSettings::new().with_limits(limits));
        let error = cycle.turn("Search").await.unwrap_err();
        assert_eq!(error.kind(), CycleErrorKind::LimitReached);
        assert_eq!(provider.requests().len(), 3);
        assert_eq!(lines(&cycle), ["user: Search", "assistant: More.More.More."]);
    }
}

#[tokio::test]
async fn a_paused_reply_may_go_on_with_tool_calls() {
    let calls = AssistantMessage::default().with_call(call("a", "add", "{}"));
    let provider = ScriptedProvider::new([
        paused("I search."),
        ScriptStep::message(calls, FinishReason::ToolCalls),
        ScriptStep::text("Done."),
    ]);
    let mut cycle = cycle(&provider);
    cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    assert_eq!(
        lines(&cycle),
        ["user: Go", "assistant: I search.", "tool: {}", "assistant: Done."]
    );
}

#[tokio::test]
async fn a_failure_after_a_pause_keeps_a_valid_history() {
    let error = agcore_llm::LlmError::new(agcore_llm::LlmErrorKind::Server, "it failed");
    let provider = ScriptedProvider::new([paused("I search."), ScriptStep::error(error), ScriptStep::text("Hi.")]);
    let mut cycle = cycle(&provider);
    cycle.turn("Search").await.unwrap_err();
    assert_eq!(lines(&cycle), ["user: Search", "assistant: I search."]);
    cycle.turn("Hello").await.unwrap();
}
