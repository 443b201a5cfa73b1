//! Edge cases of the agent loop: paired hook points, misbehaving executors, late cancellation, slow readers.

use std::{
    future::poll_fn,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use agcore_chat::{
    Answer, Message, Question, QuestionKind, Tool, ToolDefinition, ToolExecutor, ToolOutcome, ToolReport, ToolReports,
    ToolWork, validate_messages,
};
use agcore_cycle::{
    CycleErrorKind, Hook, HookContext, Hooks, LlmCycle, TurnOptions, TurnStream, TurnVerdict,
    machine::{Begin, Limits},
};
use agcore_llm::{
    LlmError, LlmErrorKind,
    layer::retry::{MidStream, Retry, RetryPolicy},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;
use futures_util::{FutureExt, StreamExt, stream, stream::FuturesUnordered};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{FnExecutor, NeverExecutor, call, cycle, event_name, lines};

/// Records the points of turns with the turn, and those of attempts with the attempt.
#[derive(Default)]
struct Points(Mutex<Vec<String>>);

impl Points {
    fn record(&self, point: &str, number: u32) {
        self.0.lock().unwrap().push(format!("{point} {number}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn install(cycle: LlmCycle) -> (LlmCycle, Arc<Self>) {
        let points = Arc::new(Self::default());
        (
            cycle.with_hooks(Hooks::new([Arc::clone(&points) as Arc<dyn Hook>])),
            points,
        )
    }
}

#[async_trait]
impl Hook for Points {
    async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
        self.record("start", context.turn);
        TurnVerdict::Continue
    }
    async fn turn_end(&self, context: &HookContext<'_>) {
        self.record("end", context.turn);
    }
    async fn post_request(&self, context: &HookContext<'_>) {
        self.record("answered", context.attempt);
    }
    async fn on_error(&self, context: &HookContext<'_>) {
        assert!(context.duration.is_some() && context.error.is_some() && context.request.is_some());
        self.record("error", context.attempt);
    }
    async fn on_retry(&self, context: &HookContext<'_>) {
        self.record("retry", context.attempt);
    }
}

fn retrying(provider: &ScriptedProvider) -> LlmCycle {
    let clock = Arc::new(ManualClock::jumping());
    let policy = RetryPolicy::new().with_mid_stream(MidStream::Restart);
    let retry = Retry::new(provider.clone(), policy, Arc::clone(&clock) as _, Arc::new(|| 1.0));
    LlmCycle::new(Arc::new(retry), clock)
}

#[tokio::test]
async fn hooks_receive_the_number_of_the_attempt() {
    let error = || LlmError::new(LlmErrorKind::Server, "no");
    let provider = ScriptedProvider::new([
        ScriptStep::error(error()),
        ScriptStep::text("half").then_error(error()),
        ScriptStep::text("Fine."),
        ScriptStep::error(error()),
        ScriptStep::error(LlmError::new(LlmErrorKind::Authentication, "no")),
    ]);
    let (mut cycle, points) = Points::install(retrying(&provider));
    cycle.turn("Go").await.unwrap();
    assert_eq!(
        points.take(),
        [
            "start 0",
            "error 0",
            "retry 1",
            "error 1",
            "retry 2",
            "answered 2",
            "end 0"
        ]
    );
    assert_eq!((cycle.usage().calls, cycle.usage().calls_with_usage), (2, 1));
    cycle.turn("Go").await.unwrap_err();
    assert_eq!(points.take(), ["start 1", "error 0", "retry 1", "error 1", "end 1"]);
}

/// Drops a turn whose tool is running.
async fn interrupt(cycle: &mut LlmCycle) {
    let mut turn = cycle.turn("Hello").with_tools(Arc::new(NeverExecutor)).stream();
    while let Some(event) = turn.next().await {
        if event_name(&event) == "tool.started" {
            return;
        }
    }
}

#[tokio::test]
async fn hooks_see_the_end_of_a_dropped_turn_before_the_next_starts() {
    let steps = || [ScriptStep::calls([call("a", "wait", "{}")]), ScriptStep::text("Fine.")];
    let paired = ["start 0", "answered 0", "end 0", "start 1", "answered 0", "end 1"];

    let (mut cycle, points) = Points::install(cycle(&ScriptedProvider::new(steps())));
    interrupt(&mut cycle).await;
    cycle.turn("Again").await.unwrap();
    assert_eq!(points.take(), paired);

    let (mut cycle, points) = Points::install(crate::support::cycle(&ScriptedProvider::new(steps())));
    interrupt(&mut cycle).await;
    cycle.set_messages(vec![Arc::new(Message::system("S"))]).unwrap();
    cycle.turn("Again").await.unwrap();
    assert_eq!(points.take(), paired);
    assert_eq!(lines(&cycle), ["system: S", "user: Again", "assistant: Fine."]);
}

#[tokio::test]
async fn settings_apply_to_the_next_turn() {
    let rounds = (0..2).map(|n| ScriptStep::calls([call(&format!("c{n}"), "add", "{}")]));
    let mut cycle = cycle(&ScriptedProvider::new(rounds));
    cycle.settings_mut().limits = Limits::new().with_max_tool_turns(1);
    let error = cycle
        .turn("Go")
        .with_tools(FnExecutor::echo(&["add"]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::LimitReached);
}

/// An executor that always returns these reports.
struct Reports(Vec<ToolReport>);

impl ToolExecutor for Reports {
    fn definitions(&self) -> Arc<[Tool]> {
        [Tool::from(ToolDefinition::new(
            "add",
            "A tool.",
            json!({"type": "object"}),
        ))]
        .into()
    }

    fn execute(&self, _: Vec<ToolWork>) -> ToolReports {
        stream::iter(self.0.clone()).boxed()
    }
}

#[tokio::test]
async fn ignores_reports_that_match_no_running_call() {
    let settled = |call: &str, outcome| ToolReport::settled(call, outcome, Duration::ZERO);
    let stray = Question::new("b", 1, QuestionKind::Input, "Whose question is this?");
    let reports = vec![
        settled("unknown", ToolOutcome::done("lost")),
        settled("a", ToolOutcome::done("one")),
        settled("a", ToolOutcome::done("two")),
        settled("c", ToolOutcome::ask(stray)),
        settled("b", ToolOutcome::done("three")),
    ];
    let calls = ["a", "b", "c"].map(|id| call(id, "add", "{}"));
    let mut cycle = cycle(&ScriptedProvider::new([
        ScriptStep::calls(calls),
        ScriptStep::text("Fine."),
    ]));
    let outcome = cycle.turn("Go").with_tools(Arc::new(Reports(reports))).await.unwrap();
    assert_eq!(outcome.text(), "Fine.");
    let lines = lines(&cycle);
    assert_eq!(lines[2..4], ["tool: one", "tool: three"]);
    assert!(lines[4].contains("belongs to another call"), "{lines:?}");
}

fn asking(token: Option<CancellationToken>) -> Arc<FnExecutor> {
    FnExecutor::new(&["send"], move |work| {
        if let Some(token) = &token {
            token.cancel();
        }
        match &work.resumed {
            None => ToolOutcome::ask(Question::new(
                work.call.id.as_str(),
                1,
                QuestionKind::Approval,
                "Send it?",
            )),
            Some(_) => ToolOutcome::done("sent"),
        }
    })
}

#[tokio::test]
async fn a_cancelled_turn_does_not_suspend() {
    let token = CancellationToken::new();
    let mut cycle = cycle(&ScriptedProvider::new([ScriptStep::calls([call("a", "send", "{}")])]));
    let options = TurnOptions::new()
        .with_token(token.clone())
        .with_tools(asking(Some(token)));
    let error = cycle
        .turn(Begin::new([Message::user("Go")]))
        .with_options(options)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::Cancelled);
    assert!(!cycle.machine().is_open());
    validate_messages(cycle.messages()).unwrap();
}

#[tokio::test]
async fn invalid_input_does_not_affect_a_suspended_turn() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "send", "{}")]), ScriptStep::text("Sent.")]);
    let mut cycle = cycle(&provider);
    let outcome = cycle.turn("Go").with_tools(asking(None)).await.unwrap();
    let question = outcome.questions()[0].id.clone();
    cycle.turn(Vec::<Message>::new()).await.unwrap_err();
    let options = TurnOptions::new().with_tools(asking(None));
    let outcome = cycle
        .resume([(question, Answer::approve())])
        .with_options(options)
        .await
        .unwrap();
    assert_eq!(outcome.text(), "Sent.");
}

#[tokio::test]
async fn a_resumed_turn_continues_the_numbering_of_events() {
    let steps = [
        ScriptStep::calls([call("a", "send", "{}")]),
        ScriptStep::text("Sent."),
        ScriptStep::text("Bye."),
    ];
    let provider = ScriptedProvider::new(steps);
    let mut first = cycle(&provider);
    let events: Vec<_> = first.turn("Go").with_tools(asking(None)).stream().collect().await;
    let sent = events.len() as u64;
    assert!(sent > 3);
    let saved = serde_json::to_string(first.machine()).unwrap();
    let machine = serde_json::from_str(&saved).unwrap();
    let mut second = LlmCycle::from_machine(provider, ManualClock::jumping(), machine);
    let question = first.machine().questions().next().unwrap().id.clone();
    let resume = agcore_cycle::TurnInput::Resume(vec![(question, Answer::approve())]);
    let options = TurnOptions::new().with_tools(asking(None));
    let rest: Vec<_> = second.turn(resume).with_options(options).stream().collect().await;
    let numbers: Vec<_> = rest.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (sent..sent + rest.len() as u64).collect::<Vec<_>>());
    let next: Vec<_> = second.turn("And?").stream().collect().await;
    assert_eq!(next[0].seq, 0, "the next turn starts from zero");
}

#[test]
fn a_reader_wakes_a_turn_among_other_futures() {
    let words = "word ".repeat(500);
    let steps = [
        ScriptStep::calls([call("a", "add", "{}"), call("b", "add", "{}")]),
        ScriptStep::text(words),
    ];
    let mut cycle = cycle(&ScriptedProvider::new(steps));
    // `FuturesUnordered` polls only futures that were woken.
    let turn = TurnStream::new(|observer| async move {
        let mut set = FuturesUnordered::new();
        let options = TurnOptions::new().with_tools(FnExecutor::echo(&["add"]));
        set.push(async {
            cycle
                .turn(Begin::new([Message::user("Go")]))
                .with_options(options)
                .observed(observer)
                .await
        });
        set.next().await.unwrap()
    });
    let outcome = turn.finish().now_or_never().expect("everything is ready").unwrap();
    assert_eq!(outcome.report().unwrap().rounds, 1);
}

#[test]
fn a_turn_is_polled_only_after_it_was_woken() {
    let (polls, waker) = (AtomicU32::new(0), Mutex::new(None));
    let mut turn = TurnStream::new(|_| {
        poll_fn(|cx: &mut Context<'_>| {
            *waker.lock().unwrap() = Some(cx.waker().clone());
            match polls.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        })
    });
    let count = || polls.load(Ordering::Relaxed);
    let poll = |turn: &mut TurnStream<'_, ()>| turn.next().now_or_never().is_some();
    assert!(!poll(&mut turn) && !poll(&mut turn));
    assert_eq!(count(), 1, "nothing has woken it");
    for expected in [2, 3] {
        let woken: Option<Waker> = waker.lock().unwrap().take();
        woken.unwrap().wake();
        assert_eq!((poll(&mut turn), count()), (expected == 3, expected));
    }
}

#[tokio::test]
async fn a_turn_in_another_task_wakes_its_reader() {
    let words = "word ".repeat(500);
    let mut cycle = cycle(&ScriptedProvider::new([ScriptStep::text(words)]));
    let turn = TurnStream::new(|observer| async move {
        let run = async move {
            cycle
                .turn(Begin::new([Message::user("Go")]))
                .with_options(TurnOptions::new())
                .observed(observer)
                .await
        };
        tokio::spawn(run).await.unwrap()
    });
    let events = tokio::time::timeout(Duration::from_secs(30), turn.collect::<Vec<_>>())
        .await
        .expect("the reader is woken");
    assert!(events.len() > 500);
}
