//! The conversation right after a turn was dropped.

use std::sync::Arc;

use agcore_chat::{Message, ToolOutcome};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use futures_util::FutureExt;

use crate::{
    gate::{Fate, Gate},
    support::{call, cycle, lines},
};

#[tokio::test]
async fn messages_are_those_that_the_next_turn_keeps() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "add", "{}"), call("b", "wait", "{}"), call("c", "send", "{}")]),
        ScriptStep::text("Hi."),
    ]);
    let gate = Gate::new(&["add", "wait", "send"], |work| match work.call.name.as_str() {
        "add" => Fate::Runs(ToolOutcome::done("3")),
        "wait" => Fate::Hangs,
        _ => Fate::Waits,
    });
    let mut cycle = cycle(&provider);
    let mut turn = Box::pin(cycle.turn("Go").with_tools(gate).run());
    assert!(turn.as_mut().now_or_never().is_none());
    drop(turn);
    let shown = lines(&cycle);
    assert_eq!(shown.len(), 5, "{shown:?}");
    assert_eq!(shown[2], "tool: 3");
    assert!(
        shown[3].contains("is unknown") && shown[4].contains("was not run"),
        "{shown:?}"
    );
    let kept: Vec<Arc<Message>> = cycle.messages().to_vec();
    cycle.turn("Hello").await.unwrap();
    assert_eq!(cycle.messages()[..5], kept);
}

#[tokio::test]
async fn the_input_of_a_turn_without_a_reply_is_not_kept() {
    let provider = ScriptedProvider::new([ScriptStep::hang(), ScriptStep::text("Hi.")]);
    let mut cycle = cycle(&provider);
    let mut turn = Box::pin(cycle.turn("Go").run());
    assert!(turn.as_mut().now_or_never().is_none());
    drop(turn);
    assert!(cycle.messages().is_empty());
    cycle.turn("Hello").await.unwrap();
    assert_eq!(lines(&cycle), ["user: Hello", "assistant: Hi."]);
}
