//! Usage: every call that returned at least a part of an answer counts, with its details, and events are in order.

use agcore_chat::{AssistantMessage, Usage, UsageTracker};
use agcore_cycle::machine::{Failure, Outcome, Reply};

use super::support::{TestRun, call_message, done, fault, start_turn, started};

fn usage(prompt: u64, completion: u64, cached: u64) -> Usage {
    let mut usage = Usage::new(prompt, completion);
    usage.prompt_tokens_details.cached_tokens = Some(cached);
    usage
}

fn lost(calls: u64) -> UsageTracker {
    let mut lost = UsageTracker::default();
    (0..calls).for_each(|_| lost.record(None));
    lost
}

#[test]
fn counts_rounds_lost_attempts_and_failures() {
    let mut run = TestRun::started();
    run.absorb(Outcome::Reply(
        Reply::new(call_message(&["a"]))
            .with_usage(Some(usage(10, 2, 3)))
            .with_lost(lost(2)),
    ));
    run.absorb(started(&["a"]));
    run.absorb(done("a", "ok"));
    run.absorb(Outcome::Reply(
        Reply::new(AssistantMessage::new("Hi")).with_usage(Some(usage(20, 4, 5))),
    ));
    let spent = run.machine.turn_usage().unwrap().clone();
    assert_eq!((spent.calls, spent.calls_with_usage), (4, 2));
    assert_eq!(spent.usage.total(), Some(36));
    assert_eq!(spent.usage.cached(), Some(8), "details are summed");
    assert!(!spent.is_complete());
    let complete = run.events.last().unwrap();
    assert_eq!(
        serde_json::to_value(complete).unwrap()["turn"]["complete"]["usage"]["calls"],
        4
    );

    run.absorb(start_turn("More"));
    assert_eq!(run.machine.turn_usage(), Some(&UsageTracker::default()));
    let mut partial = UsageTracker::default();
    partial.record(Some(&usage(7, 1, 0)));
    run.absorb(Outcome::Failed(Failure::new(fault()).with_lost(partial)));
    assert_eq!(run.machine.turn_usage().unwrap().usage.total(), Some(8));
    let all = run.machine.usage();
    assert_eq!((all.calls, all.calls_with_usage, all.usage.total()), (5, 3, Some(44)));
    run.machine.reset_usage();
    assert_eq!(run.machine.usage(), &UsageTracker::default());
}

#[test]
fn counts_a_reply_without_usage_as_a_call() {
    let mut run = TestRun::started();
    run.absorb(Outcome::Reply(Reply::new(AssistantMessage::new("Hi"))));
    let spent = run.machine.turn_usage().unwrap();
    assert_eq!((spent.calls, spent.calls_with_usage, spent.usage.total()), (1, 0, None));
}

#[test]
fn a_rejected_outcome_costs_nothing() {
    let mut run = TestRun::running(&["a"]);
    let before = run.machine.usage().clone();
    run.reject(Outcome::Reply(
        Reply::new(AssistantMessage::new("Hi")).with_lost(lost(9)),
    ));
    run.reject(Outcome::Failed(Failure::new(fault()).with_lost(lost(9))));
    assert_eq!(run.machine.usage(), &before);
}

#[test]
fn emits_the_message_before_the_usage_and_the_tools() {
    let mut run = TestRun::started();
    let mut message = call_message(&["a", "b"]);
    message
        .blocks
        .push(agcore_chat::Block::from(agcore_chat::ToolCall::function(
            "bad", "look", "{",
        )));
    run.absorb(Outcome::Reply(Reply::new(message).with_usage(Some(usage(1, 1, 0)))));
    run.absorb(started(&["a", "b"]));
    run.absorb(done("b", "ok"));
    run.absorb(done("a", "ok"));
    let expected = [
        "turn started",
        "message ",
        "usage Some(2)",
        "requested a",
        "requested b",
        "requested bad",
        "completed bad failed",
        "started a",
        "started b",
        "completed b",
        "completed a",
    ];
    assert_eq!(run.event_lines(), expected);
}
