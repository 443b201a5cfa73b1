//! The driver around the machine: whole and streamed turns, hooks, cancellation, suspension.

use std::sync::{Arc, Mutex};

use agcore_chat::{
    Answer, AssistantMessage, FaultKind, FinishReason, Message, Question, QuestionKind, ToolCall, ToolOutcome, Usage,
    validate_messages,
};
use agcore_cycle::{CycleErrorKind, 
    Hook, HookContext, Hooks, LlmCycle, RequestVerdict, ResultVerdict, ToolVerdict, TurnOptions, TurnOutcome,
    TurnVerdict,
    machine::{Begin, Machine},
};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::support::{FnExecutor, NeverExecutor, assistant, call, cycle, event_name, lines};

fn server_error() -> LlmError {
    LlmError::new(LlmErrorKind::Server, "the server failed")
}

#[tokio::test]
async fn remembers_earlier_turns() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi Ada."), ScriptStep::text("Ada.")]);
    let mut cycle = cycle(&provider);
    cycle.turn("I am Ada.").await.unwrap();
    let outcome = cycle.turn("Who am I?").await.unwrap();
    assert_eq!(outcome.text(), "Ada.");
    let sent: Vec<String> = provider.requests()[1]
        .messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert_eq!(sent, ["I am Ada.", "Hi Ada.", "Who am I?"]);
    assert_eq!(cycle.usage().usage.total(), Some(30));
    assert_eq!(cycle.usage().calls, 2);
}

#[tokio::test]
async fn runs_rounds_of_tools_until_an_answer() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", r#"{"x":1}"#), call("b", "add", "")]),
        // The calls decide, not the finish reason.
        ScriptStep::message(assistant([call("c", "add", "{}")]), FinishReason::Stop),
        ScriptStep::text("Done."),
    ]);
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let report = outcome.report().unwrap();
    assert_eq!(
        (outcome.text().as_ref(), report.rounds, report.usage.calls),
        ("Done.", 2, 3)
    );
    let expected = [
        "user: Go",
        "assistant: ",
        r#"tool: {"x":1}"#,
        "tool: ",
        "assistant: ",
        "tool: {}",
        "assistant: Done.",
    ];
    assert_eq!(lines(&cycle), expected);
    let Message::Tool(result) = &*cycle.messages()[2] else {
        panic!("not a result")
    };
    assert_eq!(result.tool_call_id, "a", "a result names its call, never its tool");
    provider.assert_done();
}

#[tokio::test]
async fn whole_and_streamed_turns_leave_the_same_state() {
    let steps = || {
        [
            ScriptStep::calls([call("a", "add", "{}")]),
            ScriptStep::text("One two three."),
        ]
    };
    let mut whole = cycle(&ScriptedProvider::new(steps()));
    whole.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let provider = ScriptedProvider::new(steps());
    let mut streamed = cycle(&provider);
    let outcome = streamed
        .turn("Go").with_tools(FnExecutor::echo(&["add"])).stream()
        .finish()
        .await
        .unwrap();
    assert_eq!(outcome.text(), "One two three.");
    assert_eq!(streamed.machine(), whole.machine());
}

#[tokio::test]
async fn tells_events_in_order() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", "{}")]),
        ScriptStep::text("One two."),
    ]);
    let mut cycle = cycle(&provider);
    let mut turn = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).stream();
    let mut told = Vec::new();
    while let Some(event) = turn.next().await {
        assert_eq!(event.seq, told.len() as u64);
        told.push(format!("{} {}", event.round, event_name(&event)));
    }
    let expected = [
        "0 turn.started",
        "0 text.tool_arguments",
        "0 text.message_complete",
        "0 model.usage",
        "0 tool.started",
        "0 tool.completed",
        "1 text.text",
        "1 text.text",
        "1 text.message_complete",
        "1 model.usage",
        "1 turn.complete",
    ];
    assert_eq!(told, expected);
    turn.finish().await.unwrap();
}

#[tokio::test]
async fn a_failed_turn_keeps_the_history_and_the_full_error() {
    let provider = ScriptedProvider::new([
        ScriptStep::text("Hi."),
        ScriptStep::text("half of it").then_error(server_error()),
        ScriptStep::text("Fine."),
    ]);
    let mut cycle = cycle(&provider);
    cycle.turn("Hello").await.unwrap();
    let error = cycle.turn("Again").await.unwrap_err();
    assert_eq!(*error.llm_error().unwrap().kind(), LlmErrorKind::Server);
    assert_eq!(error.partial().unwrap().text(), "half of it");
    assert_eq!(lines(&cycle), ["user: Hello", "assistant: Hi."]);
    assert_eq!(
        (cycle.usage().calls, cycle.usage().calls_with_usage),
        (2, 1),
        "a part of an answer counts as a call"
    );
    cycle.turn("Again").await.unwrap();
    assert_eq!(lines(&cycle).len(), 4);
}

#[tokio::test]
async fn a_stream_without_an_end_is_truncated() {
    let mut cycle = cycle(&ScriptedProvider::new([ScriptStep::text("half").then_cut()]));
    let error = cycle.turn("Hello").await.unwrap_err();
    assert_eq!(*error.llm_error().unwrap().kind(), LlmErrorKind::Truncated);
    assert!(cycle.messages().is_empty());
}

#[tokio::test]
async fn submit_messages_sends_exactly_these() {
    let provider = ScriptedProvider::new([
        ScriptStep::text("One."),
        ScriptStep::text("Two."),
        ScriptStep::error(server_error()),
    ]);
    let mut cycle = cycle(&provider);
    cycle.turn("Old").await.unwrap();
    let messages = vec![Arc::new(Message::system("S")), Arc::new(Message::user("New"))];
    cycle.turn(messages.clone()).await.unwrap();
    assert_eq!(provider.requests()[1].messages, messages);
    assert_eq!(lines(&cycle), ["system: S", "user: New", "assistant: Two."]);
    let error = cycle.turn(Vec::<Message>::new()).await.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::InvalidInput);
    cycle.turn(messages).await.unwrap_err();
    assert_eq!(
        lines(&cycle),
        ["system: S", "user: New", "assistant: Two."],
        "a failed turn keeps what was"
    );
}

#[tokio::test]
async fn the_round_limit_keeps_the_history() {
    let rounds = (0..3).map(|n| ScriptStep::calls([call(&format!("c{n}"), "add", "{}")]));
    let provider = ScriptedProvider::new(rounds);
    let mut cycle = cycle(&provider);
    let limits = agcore_cycle::machine::Limits::new().with_max_tool_turns(2);
    cycle = cycle.with_settings(agcore_cycle::CycleSettings::new().with_limits(limits));
    let error = cycle
        .turn("Go").with_tools(FnExecutor::echo(&["add"]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::LimitReached);
    assert!(error.to_string().contains("max_tool_turns"), "{error}");
    assert_eq!(cycle.messages().len(), 7);
    validate_messages(cycle.messages()).unwrap();
    provider.assert_done();
}

#[tokio::test]
async fn a_token_cancels_the_model_and_the_tools() {
    let token = CancellationToken::new();
    let provider = ScriptedProvider::new([
        ScriptStep::text("half").then_hang(),
        ScriptStep::calls([call("a", "wait", "{}")]),
        ScriptStep::text("Fine."),
    ]);
    let mut cycle = cycle(&provider);
    let options = TurnOptions::new().with_token(token.clone());
    let mut turn = cycle.turn(Begin::new([Message::user("Hello")])).with_options(options).stream();
    while let Some(event) = turn.next().await {
        if event_name(&event) == "text.text" {
            token.cancel();
        }
    }
    assert_eq!(turn.finish().await.unwrap_err().kind(), CycleErrorKind::Cancelled);
    assert!(cycle.messages().is_empty());

    let token = CancellationToken::new();
    let options = TurnOptions::new()
        .with_token(token.clone())
        .with_tools(Arc::new(NeverExecutor));
    let mut turn = cycle.turn(Begin::new([Message::user("Hello")])).with_options(options).stream();
    while let Some(event) = turn.next().await {
        if event_name(&event) == "tool.started" {
            token.cancel();
        }
    }
    assert_eq!(turn.finish().await.unwrap_err().kind(), CycleErrorKind::Cancelled);
    validate_messages(cycle.messages()).unwrap();
    assert!(
        lines(&cycle)[2].contains("outcome of this call is not known"),
        "{:?}",
        lines(&cycle)
    );
    cycle.turn("Go on").await.unwrap();
}

#[tokio::test]
async fn dropping_a_turn_cancels_it_and_the_next_tidies_up() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "wait", "{}")]), ScriptStep::text("Fine.")]);
    let mut cycle = cycle(&provider);
    {
        let mut turn = cycle.turn("Hello").with_tools(Arc::new(NeverExecutor)).stream();
        while let Some(event) = turn.next().await {
            if event_name(&event) == "tool.started" {
                break;
            }
        }
    }
    assert!(cycle.machine().is_open());
    cycle.turn("Go on").await.unwrap();
    validate_messages(cycle.messages()).unwrap();
    assert_eq!(lines(&cycle).last().unwrap(), "assistant: Fine.");
}

/// Asks before `send` runs, and counts how often the tools really ran.
fn asking(runs: &Arc<Mutex<Vec<String>>>) -> Arc<FnExecutor> {
    let runs = Arc::clone(runs);
    FnExecutor::new(&["send", "add"], move |work| {
        if work.call.name == "send" && work.resumed.is_none() {
            return ToolOutcome::Ask(Question::new(
                work.call.id.as_str(),
                1,
                QuestionKind::Approval,
                "Send it?",
            ));
        }
        if let Some((_, Answer::Deny { message })) = work.resumed.as_deref() {
            return ToolOutcome::error(message.as_str());
        }
        runs.lock().unwrap().push(work.call.id.clone());
        ToolOutcome::done("ok")
    })
}

#[tokio::test]
async fn a_suspended_turn_goes_on_elsewhere_and_nothing_runs_twice() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", "{}"), call("b", "send", "{}"), call("c", "send", "{}")]),
        ScriptStep::text("Sent one."),
    ]);
    let runs = Arc::default();
    let mut first = cycle(&provider);
    let outcome = first.turn("Go").with_tools(asking(&runs)).await.unwrap();
    let ids: Vec<_> = outcome.questions().iter().map(|question| question.id.clone()).collect();
    assert_eq!(ids.len(), 2);

    // In part, then the rest, in another process each time.
    let reload = |cycle: &LlmCycle| -> LlmCycle {
        let saved = serde_json::to_string(cycle.machine()).unwrap();
        let machine: Machine = serde_json::from_str(&saved).unwrap();
        LlmCycle::from_machine(Arc::new(provider.clone()), Arc::new(ManualClock::jumping()), machine)
    };
    let options = || TurnOptions::new().with_tools(asking(&runs));
    let mut second = reload(&first);
    let outcome = second
        .resume([(ids[0].clone(), Answer::approve())]).with_options(options())
        .await
        .unwrap();
    assert_eq!(outcome.questions().len(), 1);
    let mut third = reload(&second);
    let answers = [
        (ids[0].clone(), Answer::approve()),
        (ids[1].clone(), Answer::deny("not today")),
    ];
    let outcome = third.resume(answers).with_options(options()).await.unwrap();
    assert_eq!(outcome.text(), "Sent one.");
    assert_eq!(*runs.lock().unwrap(), ["a", "b"]);
    assert_eq!(lines(&third)[2..5], ["tool: ok", "tool: ok", "tool: not today"]);
    let error = third
        .resume([(ids[0].clone(), Answer::approve())]).with_options(options())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::InvalidInput);
}

#[tokio::test]
async fn another_answer_to_an_answered_question_is_refused() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("b", "send", "{}"), call("c", "send", "{}")])]);
    let runs = Arc::default();
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Go").with_tools(asking(&runs)).await.unwrap();
    let id = outcome.questions()[0].id.clone();
    let options = || TurnOptions::new().with_tools(asking(&runs));
    cycle
        .resume([(id.clone(), Answer::approve())]).with_options(options())
        .await
        .unwrap();
    cycle
        .resume([(id.clone(), Answer::approve())]).with_options(options())
        .await
        .unwrap();
    let error = cycle.resume([(id, Answer::deny("no"))]).with_options(options()).await.unwrap_err();
    assert!(error.to_string().contains("already been answered"), "{error}");
}

#[tokio::test]
async fn a_call_that_was_running_at_death_becomes_a_question() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "wait", "{}")]), ScriptStep::text("Fine.")]);
    let mut first = cycle(&provider);
    let mut turn = first.turn("Hello").with_tools(Arc::new(NeverExecutor)).stream();
    while let Some(event) = turn.next().await {
        if event_name(&event) == "tool.started" {
            break;
        }
    }
    drop(turn);
    let machine: Machine = serde_json::from_value(serde_json::to_value(first.machine()).unwrap()).unwrap();
    let mut second = LlmCycle::from_machine(Arc::new(provider), Arc::new(ManualClock::jumping()), machine);
    let options = || TurnOptions::new().with_tools(FnExecutor::echo(&["wait"]));
    let outcome = second.resume([]).with_options(options()).await.unwrap();
    let [question] = outcome.questions() else {
        panic!("one question expected")
    };
    assert_eq!(question.kind, QuestionKind::Uncertain);
    let outcome = second
        .resume([(question.id.clone(), Answer::deny("no"))]).with_options(options())
        .await
        .unwrap();
    assert_eq!(outcome.text(), "Fine.");
}

/// Notes each hook point, and does what the test wants at some.
#[derive(Default)]
struct Spy {
    seen: Mutex<Vec<String>>,
    block_turn: bool,
    block_request: bool,
    block_tool: bool,
    panic_at: &'static str,
}

impl Spy {
    fn note(&self, what: &'static str) {
        self.seen.lock().unwrap().push(what.to_owned());
        assert_ne!(self.panic_at, what, "on purpose");
    }
}

#[async_trait]
impl Hook for Spy {
    async fn turn_start(&self, _: &HookContext<'_>) -> TurnVerdict {
        self.note("turn_start");
        if self.block_turn {
            TurnVerdict::Block("closed".to_owned())
        } else {
            TurnVerdict::Continue
        }
    }
    async fn turn_end(&self, _: &HookContext<'_>) {
        self.note("turn_end");
    }
    async fn pre_request(&self, _: &HookContext<'_>, _: &Arc<agcore_chat::ChatRequest>) -> RequestVerdict {
        self.note("pre_request");
        if self.block_request {
            RequestVerdict::Block("secret".to_owned())
        } else {
            RequestVerdict::Continue
        }
    }
    async fn post_request(&self, context: &HookContext<'_>) {
        self.note("post_request");
        assert!(context.request.is_some_and(|request| !request.messages.is_empty()));
        assert!(context.response.is_some() && context.duration.is_some());
    }
    async fn on_error(&self, context: &HookContext<'_>) {
        self.note("on_error");
        assert!(context.error.is_some());
    }
    async fn pre_tool(&self, _: &HookContext<'_>, _: &ToolCall) -> ToolVerdict {
        self.note("pre_tool");
        if self.block_tool {
            return ToolVerdict::Block("not this one".to_owned());
        }
        let mut arguments = Map::new();
        arguments.insert("by".to_owned(), Value::from("hook"));
        ToolVerdict::Replace(arguments)
    }
    async fn post_tool(&self, _: &HookContext<'_>, _: &ToolCall, result: &agcore_chat::ToolResult) -> ResultVerdict {
        self.note("post_tool");
        ResultVerdict::Replace(format!("[{}]", result.content.text()))
    }
}

fn with_spy(cycle: LlmCycle, spy: Spy) -> (LlmCycle, Arc<Spy>) {
    let spy = Arc::new(spy);
    (cycle.with_hooks(Hooks::new([Arc::clone(&spy) as Arc<dyn Hook>])), spy)
}

fn tool_steps() -> [ScriptStep; 2] {
    [ScriptStep::calls([call("a", "add", "{}")]), ScriptStep::text("Done.")]
}

#[tokio::test]
async fn hooks_see_and_change_a_turn() {
    let (mut cycle, spy) = with_spy(cycle(&ScriptedProvider::new(tool_steps())), Spy::default());
    cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let expected = [
        "turn_start",
        "pre_request",
        "post_request",
        "pre_tool",
        "post_tool",
        "pre_request",
        "post_request",
        "turn_end",
    ];
    assert_eq!(*spy.seen.lock().unwrap(), expected);
    assert_eq!(lines(&cycle)[2], r#"tool: [{"by":"hook"}]"#);
}

#[tokio::test]
async fn hooks_block_turns_requests_and_tools() {
    let check = async |spy: Spy, kind: Option<CycleErrorKind>, history: usize, points: &[&str]| {
        let (mut cycle, spy) = with_spy(cycle(&ScriptedProvider::new(tool_steps())), spy);
        let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await;
        assert_eq!(outcome.err().map(|error| error.kind().clone()), kind);
        assert_eq!(cycle.messages().len(), history);
        assert_eq!(*spy.seen.lock().unwrap(), points);
        cycle
    };
    let blocked = Some(CycleErrorKind::HookBlocked);
    check(
        Spy {
            block_turn: true,
            ..Spy::default()
        },
        blocked.clone(),
        0,
        &["turn_start", "turn_end"],
    )
    .await;
    let points = ["turn_start", "pre_request", "turn_end"];
    check(
        Spy {
            block_request: true,
            ..Spy::default()
        },
        blocked,
        0,
        &points,
    )
    .await;
    let points = [
        "turn_start",
        "pre_request",
        "post_request",
        "pre_tool",
        "pre_request",
        "post_request",
        "turn_end",
    ];
    let cycle = check(
        Spy {
            block_tool: true,
            ..Spy::default()
        },
        None,
        4,
        &points,
    )
    .await;
    assert_eq!(lines(&cycle)[2], "tool: not this one");
}

#[tokio::test]
async fn a_panicking_hook_takes_nothing_down() {
    for point in [
        "turn_start",
        "pre_request",
        "post_request",
        "pre_tool",
        "post_tool",
        "turn_end",
    ] {
        let spy = Spy {
            panic_at: point,
            ..Spy::default()
        };
        let (mut cycle, _) = with_spy(cycle(&ScriptedProvider::new(tool_steps())), spy);
        let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
        assert_eq!(outcome.text(), "Done.", "panic at {point}");
    }
}

#[tokio::test]
async fn exactly_one_of_post_request_and_on_error_ends_an_attempt() {
    let steps = [ScriptStep::error(server_error()), ScriptStep::text("Fine.")];
    let (mut cycle, spy) = with_spy(cycle(&ScriptedProvider::new(steps)), Spy::default());
    cycle.turn("Go").await.unwrap_err();
    cycle.turn("Go").await.unwrap();
    let ends: Vec<_> = spy
        .seen
        .lock()
        .unwrap()
        .iter()
        .filter(|point| point.contains("re") || point.contains("on_"))
        .cloned()
        .collect();
    assert_eq!(ends, ["pre_request", "on_error", "pre_request", "post_request"]);
}

#[tokio::test]
async fn a_divert_ends_the_turn_well() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "add", "{}")])]);
    let divert = |_: &agcore_chat::ToolWork| ToolOutcome::Divert {
        content: "over to Bo".into(),
        data: Value::from("bo"),
    };
    let mut cycle = cycle(&provider);
    let outcome = cycle
        .turn("Go").with_tools(FnExecutor::new(&["add"], divert))
        .await
        .unwrap();
    let TurnOutcome::Diverted { call, data } = outcome else {
        panic!("not diverted")
    };
    assert_eq!((call.as_str(), data), ("a", Value::from("bo")));
    validate_messages(cycle.messages()).unwrap();
}

#[tokio::test]
async fn a_fatal_tool_ends_the_turn_with_its_fault() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "add", "{}")])]);
    let fatal =
        |_: &agcore_chat::ToolWork| ToolOutcome::Fatal(agcore_chat::Fault::new(FaultKind::Tool, "the server is gone"));
    let mut cycle = cycle(&provider);
    let error = cycle
        .turn("Go").with_tools(FnExecutor::new(&["add"], fatal))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (CycleErrorKind::ToolFailure, "the server is gone")
    );
    validate_messages(cycle.messages()).unwrap();
}

#[tokio::test]
async fn usage_counts_every_round_with_its_details() {
    let mut usage = Usage::new(100, 20);
    usage.prompt_tokens_details.cached_tokens = Some(60);
    usage.completion_tokens_details.reasoning_tokens = Some(5);
    let step = |message: AssistantMessage| {
        let choice = agcore_chat::Choice {
            message,
            finish_reason: Some(FinishReason::Stop),
            ..Default::default()
        };
        let usage = Some(usage.clone());
        ScriptStep::response(agcore_chat::ChatResponse {
            choices: vec![choice],
            usage,
            ..Default::default()
        })
    };
    let provider = ScriptedProvider::new([
        step(assistant([call("a", "add", "{}")])),
        step(AssistantMessage::new("Done.")),
    ]);
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let total = &outcome.report().unwrap().usage.usage;
    assert_eq!(
        (total.prompt_tokens, total.cached(), total.reasoning()),
        (Some(200), Some(120), Some(10))
    );
}
