//! Hooks in the agent loop: they observe, change and block turns, requests and calls.

use std::sync::{Arc, Mutex};

use agcore_chat::{ChatRequest, ToolCall, ToolResult};
use agcore_cycle::{
    CycleErrorKind, Hook, HookContext, Hooks, LlmCycle, RequestVerdict, ResultVerdict, ToolVerdict, TurnVerdict,
};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::support::{FnExecutor, call, cycle, lines};

fn server_error() -> LlmError {
    LlmError::new(LlmErrorKind::Server, "the server failed")
}

/// Records the hook points, and blocks or panics at some.
#[derive(Default)]
struct Spy {
    points: Mutex<Vec<String>>,
    block_turn: bool,
    block_request: bool,
    block_tool: bool,
    panic_at: &'static str,
}

impl Spy {
    fn record(&self, point: &'static str) {
        self.points.lock().unwrap().push(point.to_owned());
        assert_ne!(self.panic_at, point, "on purpose");
    }
}

#[async_trait]
impl Hook for Spy {
    async fn turn_start(&self, _: &HookContext<'_>) -> TurnVerdict {
        self.record("turn_start");
        if self.block_turn {
            TurnVerdict::Block("blocked".to_owned())
        } else {
            TurnVerdict::Continue
        }
    }
    async fn turn_end(&self, _: &HookContext<'_>) {
        self.record("turn_end");
    }
    async fn pre_request(&self, _: &HookContext<'_>, _: &Arc<ChatRequest>) -> RequestVerdict {
        self.record("pre_request");
        if self.block_request {
            RequestVerdict::Block("secret".to_owned())
        } else {
            RequestVerdict::Continue
        }
    }
    async fn post_request(&self, context: &HookContext<'_>) {
        self.record("post_request");
        assert!(context.request.is_some_and(|request| !request.messages.is_empty()));
        assert!(context.response.is_some() && context.duration.is_some());
    }
    async fn on_error(&self, context: &HookContext<'_>) {
        self.record("on_error");
        assert!(context.error.is_some());
    }
    async fn pre_tool(&self, _: &HookContext<'_>, _: &ToolCall) -> ToolVerdict {
        self.record("pre_tool");
        if self.block_tool {
            return ToolVerdict::Block("not this one".to_owned());
        }
        let mut arguments = Map::new();
        arguments.insert("by".to_owned(), Value::from("hook"));
        ToolVerdict::Replace(arguments)
    }
    async fn post_tool(&self, _: &HookContext<'_>, _: &ToolCall, result: &ToolResult) -> ResultVerdict {
        self.record("post_tool");
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
async fn hooks_observe_and_change_a_turn() {
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
    assert_eq!(*spy.points.lock().unwrap(), expected);
    assert_eq!(lines(&cycle)[2], r#"tool: [{"by":"hook"}]"#);
}

#[tokio::test]
async fn hooks_block_turns_requests_and_tools() {
    let check = async |spy: Spy, kind: Option<CycleErrorKind>, history: usize, points: &[&str]| {
        let (mut cycle, spy) = with_spy(cycle(&ScriptedProvider::new(tool_steps())), spy);
        let outcome = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await;
        assert_eq!(outcome.err().map(|error| error.kind()), kind);
        assert_eq!(cycle.messages().len(), history);
        assert_eq!(*spy.points.lock().unwrap(), points);
        cycle
    };
    let blocked = Some(CycleErrorKind::HookBlocked);
    check(
        Spy {
            block_turn: true,
            ..Spy::default()
        },
        blocked,
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
async fn a_panicking_hook_does_not_end_the_turn() {
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
        .points
        .lock()
        .unwrap()
        .iter()
        .filter(|point| point.contains("re") || point.contains("on_"))
        .cloned()
        .collect();
    assert_eq!(ends, ["pre_request", "on_error", "pre_request", "post_request"]);
}
