//! Usage: every call that returned any part of an answer counts, with its details, and events come in order.

use agcore_chat::{AssistantMessage, Usage, UsageTracker};
use agcore_cycle::machine::{Failure, Outcome, Reply};

use super::support::{Play, begin, call_message, done, fault, started};

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
fn all_rounds_lost_attempts_and_failures_count() {
    let mut play = Play::begun();
    play.absorb(Outcome::Reply(
        Reply::new(call_message(&["a"]))
            .with_usage(Some(usage(10, 2, 3)))
            .with_lost(lost(2)),
    ));
    play.absorb(started(&["a"]));
    play.absorb(done("a", "ok"));
    play.absorb(Outcome::Reply(
        Reply::new(AssistantMessage::new("Hi")).with_usage(Some(usage(20, 4, 5))),
    ));
    let spent = play.machine.turn_usage().unwrap().clone();
    assert_eq!((spent.calls, spent.calls_with_usage), (4, 2));
    assert_eq!(spent.usage.total(), Some(36));
    assert_eq!(spent.usage.cached(), Some(8), "details are summed");
    assert!(!spent.is_complete());
    let complete = play.events.last().unwrap();
    assert_eq!(
        serde_json::to_value(complete).unwrap()["turn"]["complete"]["usage"]["calls"],
        4
    );

    play.absorb(begin("More"));
    assert_eq!(play.machine.turn_usage(), Some(&UsageTracker::default()));
    let mut partial = UsageTracker::default();
    partial.record(Some(&usage(7, 1, 0)));
    play.absorb(Outcome::Failed(Failure::new(fault()).with_lost(partial)));
    assert_eq!(play.machine.turn_usage().unwrap().usage.total(), Some(8));
    let all = play.machine.usage();
    assert_eq!((all.calls, all.calls_with_usage, all.usage.total()), (5, 3, Some(44)));
    play.machine.reset_usage();
    assert_eq!(play.machine.usage(), &UsageTracker::default());
}

#[test]
fn a_reply_without_usage_is_a_call_of_unknown_cost() {
    let mut play = Play::begun();
    play.absorb(Outcome::Reply(Reply::new(AssistantMessage::new("Hi"))));
    let spent = play.machine.turn_usage().unwrap();
    assert_eq!((spent.calls, spent.calls_with_usage, spent.usage.total()), (1, 0, None));
}

#[test]
fn what_is_refused_costs_nothing() {
    let mut play = Play::running(&["a"]);
    let before = play.machine.usage().clone();
    play.refuse(Outcome::Reply(
        Reply::new(AssistantMessage::new("Hi")).with_lost(lost(9)),
    ));
    play.refuse(Outcome::Failed(Failure::new(fault()).with_lost(lost(9))));
    assert_eq!(play.machine.usage(), &before);
}

#[test]
fn the_message_comes_before_usage_and_usage_before_the_tools() {
    let mut play = Play::begun();
    let mut message = call_message(&["a", "b"]);
    message
        .blocks
        .push(agcore_chat::Block::from(agcore_chat::ToolCall::function(
            "bad", "look", "{",
        )));
    play.absorb(Outcome::Reply(Reply::new(message).with_usage(Some(usage(1, 1, 0)))));
    play.absorb(started(&["a", "b"]));
    play.absorb(done("b", "ok"));
    play.absorb(done("a", "ok"));
    let expected = [
        "turn started",
        "message ",
        "usage Some(2)",
        "started bad",
        "completed bad failed",
        "started a",
        "started b",
        "completed b",
        "completed a",
    ];
    assert_eq!(play.told(), expected);
}
