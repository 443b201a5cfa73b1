//! A check that is asked before each call: of the model, of a tool, and of a sub-agent with a bundle of its own.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::{AgentBuilder, AgentSpec, SubAgent};
use agcore_chat::{AssistantMessage, ChatResponse, Choice, FinishReason, StopCheck, ToolAnnotations, ToolCall};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, typed};

/// The number of calls that have started.
#[derive(Clone, Default)]
struct Started(Arc<AtomicUsize>);

impl Started {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns a step of a model that counts its call.
    fn step(&self, message: AssistantMessage, finish_reason: FinishReason) -> ScriptStep {
        let started = self.clone();
        ScriptStep::from_fn(move |_| {
            started.add();
            let choice = Choice {
                message,
                finish_reason: Some(finish_reason),
                ..Choice::default()
            };
            ChatResponse {
                choices: vec![choice],
                ..ChatResponse::default()
            }
        })
    }

    fn call(&self, tool: &str, arguments: &str) -> ScriptStep {
        let call = ToolCall::function("c1", tool, arguments);
        self.step(AssistantMessage::from_blocks([call.into()]), FinishReason::ToolCalls)
    }

    fn text(&self, text: &str) -> ScriptStep {
        self.step(AssistantMessage::new(text), FinishReason::Stop)
    }
}

/// Lets an agent call a tool and a sub-agent. Returns the number of calls that have started, and whether the turn was cancelled.
async fn calls_until(limit: usize, is_read_only: bool) -> (usize, bool) {
    let started = Started::default();
    let model = ScriptedProvider::new([
        started.call("note", "{}"),
        started.call("ask_guest", r#"{"task": "Look into it."}"#),
        started.text("Nice."),
        started.text("Noted, nice."),
    ]);
    let counted = started.clone();
    let note = typed("note", "Notes it.", move |_: NoArguments| {
        let started = counted.clone();
        async move {
            started.add();
            Ok("noted")
        }
    });
    let note = note.with_annotations(ToolAnnotations::default().with_read_only(is_read_only));
    let builder = || {
        AgentBuilder::new()
            .with_provider(model.clone())
            .with_clock(ManualClock::jumping())
    };
    let guest = SubAgent::new(AgentSpec::new("guest", "You visit."), "Visits.");
    let checked = started.clone();
    let bundle = builder()
        .with_tool(note)
        .with_tool(guest.with_bundle(builder().build().unwrap()))
        .build()
        .unwrap()
        .with_stop_check(StopCheck::new(move || checked.count() >= limit));
    let outcome = bundle.new_session().turn("Is it nice?").await;
    (started.count(), outcome.is_err_and(|error| error.is_cancelled()))
}

#[tokio::test]
async fn no_call_begins_after_the_check() {
    for is_read_only in [true, false] {
        for limit in 0..5 {
            let ended = calls_until(limit, is_read_only).await;
            assert_eq!(ended, (limit, true), "after {limit} calls");
        }
        assert_eq!(calls_until(6, is_read_only).await, (5, false));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_in_tasks_of_their_own_do_not_begin() {
    assert_eq!(calls_until(1, true).await, (1, true));
}
