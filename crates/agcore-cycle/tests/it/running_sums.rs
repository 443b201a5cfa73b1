//! The estimated tokens of a request are those of a full count, whatever has happened to the conversation before.

use std::{future::pending, sync::Arc};

use agcore_chat::{ChatResponse, Message};
use agcore_cycle::{LlmCycle, TurnOptions};
use agcore_llm::{LlmProvider, provider_fn};
use agcore_testkit::clock::ManualClock;
use futures_util::FutureExt;

use crate::compaction::{history, tokens};

/// A model that answers everything except "Hang".
fn provider() -> impl LlmProvider + Clone + 'static {
    Arc::new(provider_fn(|call| async move {
        if call.request.messages.last().is_some_and(|last| last.text() == "Hang") {
            pending::<()>().await;
        }
        Ok(ChatResponse::from_text("They have read a page, and another one."))
    }))
}

/// Checks the estimate of a copy of the loop, which has the running sums of the loop.
async fn check(cycle: &LlmCycle, what: &str) {
    let view = cycle.machine().view();
    let expected = [cycle.settings().prelude.as_slice(), view.older, view.added].map(tokens);
    let report = cycle.clone().compact(TurnOptions::new()).await.unwrap();
    assert_eq!(report.tokens_before, expected.iter().sum::<u64>(), "{what}");
}

#[tokio::test]
async fn estimates_are_those_of_a_full_count() {
    let mut cycle = LlmCycle::new(provider(), ManualClock::jumping());
    check(&cycle, "an empty conversation").await;
    for round in 0..4 {
        cycle.settings_mut().prelude = vec![Arc::new(Message::system("Be brief. ".repeat(round + 1)))];
        check(&cycle, "another prelude").await;
        cycle.turn("What did they read?").await.unwrap();
        check(&cycle, "a turn").await;

        assert!(cycle.turn("Hang").run().now_or_never().is_none());
        check(&cycle, "a dropped turn").await;
        cycle.turn("Go on.").await.unwrap();
        check(&cycle, "the turn after a dropped one").await;

        let saved = serde_json::to_string(cycle.machine()).unwrap();
        cycle.set_messages(history(8, 50 * (round + 1))).unwrap();
        check(&cycle, "another history").await;
        let report = cycle.compact(TurnOptions::new()).await.unwrap();
        assert!(!report.is_unchanged());
        check(&cycle, "a compaction").await;
        cycle.turn("And then?").await.unwrap();
        check(&cycle, "the turn after a compaction").await;

        cycle.turn(vec![Message::user("Something else.")]).await.unwrap();
        check(&cycle, "a turn that replaced the history").await;
        cycle = LlmCycle::from_machine(
            provider(),
            ManualClock::jumping(),
            serde_json::from_str(&saved).unwrap(),
        );
        check(&cycle, "a restored state").await;
        cycle.turn("Welcome back.").await.unwrap();
        check(&cycle, "a turn after that").await;
    }
}
