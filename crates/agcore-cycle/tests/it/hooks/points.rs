//! The effects and inputs of each point, and the order of hooks.

use std::sync::{Arc, Mutex};

use agcore_chat::{Fault, FaultKind, Message, ToolCall, ToolOutcome, ToolResult};
use agcore_cycle::{
    CycleErrorKind, Hook, HookContext, Hooks, PlanStepEnd, ToolVerdict, TurnOptions, TurnOutcome, TurnVerdict,
    hooks::HookBounds,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Action, TestHook, cycle_of_all_points, hooks, jumping};
use crate::{
    compaction::history,
    support::{FnExecutor, call, cycle, lines},
};

fn steps() -> [ScriptStep; 2] {
    [ScriptStep::calls([call("a", "add", "{}")]), ScriptStep::text("Done.")]
}

#[tokio::test]
async fn points_and_hooks_are_in_order() {
    let first = TestHook::new("1");
    let second = first.with_same_log("2");
    let (mut cycle, _) = cycle_of_all_points(&jumping(), hooks([first.clone(), second]));
    cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let expected: Vec<_> = [
        "turn_start Go",
        "pre_request Reply Go",
        "on_error no",
        "on_retry 1",
        "post_request Reply Go ->",
        "pre_tool {}",
        "post_tool {} -> {}",
        "pre_request Reply {}",
        "post_request Reply {} -> Done.",
        "turn_end Done.",
    ]
    .iter()
    .flat_map(|point| [format!("1 {point}"), format!("2 {point}")])
    .collect();
    assert_eq!(first.log(), expected);
}

#[tokio::test]
async fn later_hooks_see_replaced_requests() {
    let first = TestHook::new("1").at("pre_request", Action::Replace);
    let second = first.with_same_log("2").at("pre_request", Action::Replace);
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let mut cycle = cycle(&provider).with_hooks(hooks([first.clone(), second]));
    cycle.turn("Go").await.unwrap();
    assert_eq!(provider.requests()[0].messages[0].text(), "[[Go]]");
    assert_eq!(
        lines(&cycle),
        ["user: Go", "assistant: Hi."],
        "a replaced request is not part of the history"
    );
    let log = first.log();
    assert_eq!(
        log[2..5],
        [
            "1 pre_request Reply Go",
            "2 pre_request Reply [Go]",
            "1 post_request Reply [[Go]] -> Hi."
        ]
    );
}

#[tokio::test]
async fn arguments_and_results_are_replaced_in_order() {
    let first = TestHook::new("1").at("pre_tool", Action::Replace);
    let second = first.with_same_log("2").at("post_tool", Action::Replace);
    let third = first.with_same_log("3").at("post_tool", Action::Replace);
    let provider = ScriptedProvider::new(steps());
    let mut cycle = cycle(&provider).with_hooks(hooks([first.clone(), second, third]));
    cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let tools: Vec<_> = first.log().into_iter().filter(|line| line.contains("_tool")).collect();
    let expected = [
        "1 pre_tool {}",
        r#"2 pre_tool {"by":"1"}"#,
        r#"3 pre_tool {"by":"1"}"#,
        r#"1 post_tool {"by":"1"} -> {"by":"1"}"#,
        r#"2 post_tool {"by":"1"} -> {"by":"1"}"#,
        r#"3 post_tool {"by":"1"} -> [{"by":"1"}]"#,
    ];
    assert_eq!(tools, expected);
    assert_eq!(lines(&cycle)[2], r#"tool: [[{"by":"1"}]]"#);
    let requested = cycle.messages()[1]
        .as_assistant()
        .unwrap()
        .tool_calls()
        .next()
        .unwrap()
        .clone();
    assert_eq!(requested.raw_input(), "{}", "the history keeps the call of the model");
}

#[tokio::test]
async fn hooks_after_a_blocking_one_are_not_called() {
    for (point, asked, message) in [
        ("turn_start", 1, "blocked by 1"),
        ("pre_request", 1, "blocked by 1"),
        ("pre_tool", 2, ""),
    ] {
        let first = TestHook::new("1").at(point, Action::Block);
        let second = first.with_same_log("2");
        let provider = ScriptedProvider::new(steps());
        let mut cycle = cycle(&provider).with_hooks(hooks([first.clone(), second]));
        let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await;
        let log = first.log();
        assert!(log.iter().any(|line| line.starts_with(&format!("1 {point}"))));
        assert!(
            !log.iter().any(|line| line.starts_with(&format!("2 {point}"))),
            "{log:?}"
        );
        assert!(
            !log.iter().any(|line| line.contains("post_tool")),
            "a blocked call has no result: {log:?}"
        );
        match outcome {
            Err(error) => {
                assert_eq!((error.kind(), error.message()), (CycleErrorKind::HookBlocked, message));
                assert_eq!(provider.unused(), 2, "nothing was sent");
                assert!(cycle.messages().is_empty());
            }
            Ok(_) => assert_eq!((lines(&cycle)[2].as_str(), asked), ("tool: blocked by 1", 2)),
        }
    }
}

#[tokio::test]
async fn turn_start_receives_every_form_of_input() {
    let hook = TestHook::new("t");
    let provider = ScriptedProvider::new([1, 2].map(|_| ScriptStep::text("Hi.")));
    let mut cycle = cycle(&provider).with_hooks(hooks([hook.clone()]));
    cycle.turn("One").await.unwrap();
    assert_eq!(hook.log()[0], "t turn_start One");
    let messages = [Message::system("Two"), Message::user("Three")].map(Arc::new).to_vec();
    cycle.turn(messages).await.unwrap();
    assert_eq!(hook.log()[0], "t turn_start Two+Three");
}

#[tokio::test]
async fn a_request_for_a_summary_has_its_purpose() {
    let hook = TestHook::new("t");
    let provider = ScriptedProvider::new([ScriptStep::text("They read.")]);
    let mut cycle = cycle(&provider).with_hooks(hooks([hook.clone()]));
    cycle.set_messages(history(8, 150)).unwrap();
    assert!(!cycle.compact(TurnOptions::new()).await.unwrap().is_unchanged());
    let log = hook.log();
    assert_eq!(log.len(), 2);
    assert!(log[0].starts_with("t pre_request Summary"), "{log:?}");
    assert!(
        log[1].starts_with("t post_request Summary") && log[1].ends_with("-> They read."),
        "{log:?}"
    );
}

#[tokio::test]
async fn a_failed_turn_ends_with_its_error() {
    let hook = TestHook::new("t").at("pre_request", Action::Block);
    let mut cycle = cycle(&ScriptedProvider::new([])).with_hooks(hooks([hook.clone()]));
    cycle.turn("Go").await.unwrap_err();
    assert_eq!(hook.log().last().unwrap(), "t turn_end blocked by t");
}

/// A result with data for observers, an error, and a handoff.
#[tokio::test]
async fn replaces_every_kind_of_result_completely() {
    let check = async |outcome: fn() -> ToolOutcome| {
        let hook = TestHook::new("t").at("post_tool", Action::Replace);
        let mut cycle = cycle(&ScriptedProvider::new(steps())).with_hooks(hooks([hook]));
        let tools = FnExecutor::new(&["add"], move |_| outcome());
        let outcome = cycle.turn("Go").with_tools(tools).await.unwrap();
        (
            outcome,
            lines(&cycle)[2].clone(),
            serde_json::to_string(cycle.machine()).unwrap(),
        )
    };
    let (_, line, state) = check(|| {
        let mut result = ToolResult::new("key");
        result.display = Some(Box::new(json!("the key in color")));
        ToolOutcome::Done(result)
    })
    .await;
    assert_eq!(line, "tool: [key]");
    assert!(!state.contains("in color"), "display data is dropped with the text");
    let (_, line, _) = check(|| ToolOutcome::error("key")).await;
    assert_eq!(line, "tool: [key]");
    let (outcome, line, _) = check(|| ToolOutcome::Divert {
        content: "key".into(),
        data: Value::from("bo"),
    })
    .await;
    assert!(matches!(outcome, TurnOutcome::Diverted { data, .. } if data == "bo"));
    assert_eq!(line, "tool: [key]");
}

#[tokio::test]
async fn a_custom_tool_keeps_its_input() {
    let hook = TestHook::new("t").at("pre_tool", Action::Replace);
    let clock = ManualClock::jumping();
    let token = CancellationToken::new();
    let bounds = HookBounds::new(&clock, &token);
    let call = Arc::new(ToolCall::custom("a", "sql", "select 1"));
    let passed = hooks([hook])
        .pre_tool(&HookContext::new("me"), &bounds, call.clone())
        .await;
    assert_eq!(passed.unwrap(), call);
}

#[tokio::test]
async fn plan_step_is_called_however_the_step_ended() {
    let hook = TestHook::new("t").at("plan_step", Action::Panic);
    let (hooks, clock, token) = (hooks([hook.clone()]), ManualClock::jumping(), CancellationToken::new());
    let bounds = HookBounds::new(&clock, &token);
    let fault = Fault::new(FaultKind::Tool, "no");
    for (step, end) in [PlanStepEnd::Completed, PlanStepEnd::Failed, PlanStepEnd::Skipped]
        .into_iter()
        .enumerate()
    {
        let context = HookContext::new("me")
            .with_plan_step(u32::try_from(step).unwrap(), end)
            .with_error(&fault);
        hooks.plan_step(&context, &bounds).await;
    }
    assert_eq!(
        hook.log(),
        [
            "t plan_step 0 Completed",
            "t plan_step 1 Failed",
            "t plan_step 2 Skipped"
        ]
    );
}

/// Notes for which session each point runs.
#[derive(Debug, Default)]
struct Sessions(Mutex<Vec<Option<String>>>);

#[async_trait]
impl Hook for Sessions {
    async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
        self.note(context);
        TurnVerdict::Continue
    }

    async fn pre_tool(&self, context: &HookContext<'_>, _: &ToolCall) -> ToolVerdict {
        self.note(context);
        ToolVerdict::Continue
    }

    async fn turn_end(&self, context: &HookContext<'_>) {
        self.note(context);
    }
}

impl Sessions {
    fn note(&self, context: &HookContext<'_>) {
        self.0.lock().unwrap().push(context.session.map(str::to_owned));
    }
}

#[tokio::test]
async fn every_point_has_the_session_of_the_turn() {
    let base = || TurnOptions::new().with_tools(FnExecutor::echo(&["add"]));
    for (options, session) in [
        (base(), None),
        (base().with_trace("trace"), Some("trace")),
        (base().with_trace("trace").with_session("session"), Some("session")),
    ] {
        let sessions = Arc::new(Sessions::default());
        let mut cycle =
            cycle(&ScriptedProvider::new(steps())).with_hooks(Hooks::new([Arc::clone(&sessions) as Arc<dyn Hook>]));
        cycle.turn("Go").with_options(options).await.unwrap();
        let seen = sessions.0.lock().unwrap().clone();
        assert_eq!(seen, vec![session.map(str::to_owned); 3]);
    }
}
