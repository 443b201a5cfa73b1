//! Arguments that a person has edited: hooks check them, and see them with the result.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{
    EventKind, Tool, ToolCall, ToolEvent, ToolExecutor, ToolOutcome, ToolReport, ToolReports, ToolResult, ToolWork,
};
use agcore_cycle::{Hook, HookContext, Hooks, LlmCycle, ResultVerdict, ToolVerdict};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::Map;

use crate::support::{call, cycle, lines};

/// An executor for which a person replaces the arguments of every call. It runs the guard like any executor must.
struct Edits(&'static str);

impl ToolExecutor for Edits {
    fn definitions(&self) -> Arc<[Tool]> {
        Arc::default()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        let edited = self.0;
        let run = move |work: ToolWork| async move {
            let call = ToolCall::function(work.call.id.as_str(), work.call.name.as_str(), edited);
            let outcome = match &work.guard {
                Some(guard) => guard.check(Arc::new(call)).await.err(),
                None => None,
            };
            ToolReport::Settled {
                call_id: work.call.id.as_str().into(),
                outcome: outcome.unwrap_or_else(|| ToolOutcome::done(format!("wrote {edited}"))),
                duration: Duration::ZERO,
                input: Some(edited.into()),
            }
        };
        stream::iter(work).then(run).boxed()
    }
}

/// Blocks everything about `/etc`, and records the calls that it sees.
#[derive(Default)]
struct Guard {
    seen: Mutex<Vec<String>>,
    replaces: bool,
    panics: bool,
}

#[async_trait]
impl Hook for Guard {
    fn fails_closed(&self) -> bool {
        true
    }

    async fn pre_tool(&self, context: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        assert_eq!((context.agent, context.turn, context.round), ("assistant", 0, 0));
        self.seen.lock().unwrap().push(format!("before {}", call.raw_input()));
        let is_edited = call.raw_input().contains("edited");
        assert!(!(self.panics && is_edited), "on purpose");
        if call.raw_input().contains("/etc") {
            return ToolVerdict::Block("/etc is off limits".to_owned());
        }
        match self.replaces && is_edited {
            true => ToolVerdict::Replace(Map::new()),
            false => ToolVerdict::Continue,
        }
    }

    async fn post_tool(&self, _: &HookContext<'_>, call: &ToolCall, _: &ToolResult) -> ResultVerdict {
        self.seen.lock().unwrap().push(format!("after {}", call.raw_input()));
        ResultVerdict::Continue
    }
}

/// Runs a turn with one call whose arguments a person replaces. Returns its result, and the input of its completion.
async fn run(edited: &'static str, guard: &Arc<Guard>) -> (String, String) {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "write", "{}")]), ScriptStep::text("Done.")]);
    let mut cycle: LlmCycle = cycle(&provider).with_hooks(Hooks::new([guard.clone() as Arc<dyn Hook>]));
    let mut turn = cycle.turn("Go").with_tools(Arc::new(Edits(edited))).stream();
    let mut input = String::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Tool(ToolEvent::Completed { input: ran, .. }) = &event.kind {
            input = ran.to_string();
        }
    }
    turn.finish().await.unwrap();
    (lines(&cycle)[2].clone(), input)
}

#[tokio::test]
async fn hooks_check_edited_arguments() {
    let guard = Arc::new(Guard::default());
    let (result, input) = run(r#"{"edited":"/tmp"}"#, &guard).await;
    assert_eq!(result, r#"tool: wrote {"edited":"/tmp"}"#);
    assert_eq!(input, r#"{"edited":"/tmp"}"#);
    let expected = ["before {}", r#"before {"edited":"/tmp"}"#, r#"after {"edited":"/tmp"}"#];
    assert_eq!(*guard.seen.lock().unwrap(), expected);

    let guard = Arc::new(Guard::default());
    let (result, _) = run(r#"{"edited":"/etc"}"#, &guard).await;
    assert_eq!(result, "tool: /etc is off limits");
}

#[tokio::test]
async fn hooks_cannot_change_edited_arguments() {
    let guard = Arc::new(Guard {
        replaces: true,
        ..Guard::default()
    });
    let (result, _) = run(r#"{"edited":1}"#, &guard).await;
    assert!(
        result.contains("a check wanted to change the arguments after a person had edited them"),
        "{result}"
    );
}

#[tokio::test]
async fn a_check_that_fails_closed_blocks_edited_arguments() {
    let guard = Arc::new(Guard {
        panics: true,
        ..Guard::default()
    });
    let (result, _) = run(r#"{"edited":1}"#, &guard).await;
    assert_eq!(result, "tool: A required check failed, so this was blocked.");
}

/// Gives every call other arguments.
struct Replace;

#[async_trait]
impl Hook for Replace {
    async fn pre_tool(&self, _: &HookContext<'_>, _: &ToolCall) -> ToolVerdict {
        ToolVerdict::Replace(Map::from_iter([("by".to_owned(), "hook".into())]))
    }
}

#[tokio::test]
async fn events_name_the_arguments_that_a_hook_set() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "add", "{}")]), ScriptStep::text("Done.")]);
    let mut cycle = cycle(&provider).with_hooks(Hooks::new([Arc::new(Replace) as Arc<dyn Hook>]));
    let tools = crate::support::FnExecutor::echo(&["add"]);
    let mut turn = cycle.turn("Go").with_tools(tools).stream();
    let mut inputs = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Tool(ToolEvent::Requested { input, .. } | ToolEvent::Completed { input, .. }) = &event.kind {
            inputs.push(input.to_string());
        }
    }
    assert_eq!(inputs, ["{}", r#"{"by":"hook"}"#]);
}
