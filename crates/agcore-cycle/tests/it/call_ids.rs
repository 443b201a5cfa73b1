//! All events about a call contain the same id, whatever ids the server sends.

use std::sync::{Arc, Mutex};

use agcore_chat::{EventKind, FinishReason, TextEvent, ToolEvent};
use agcore_cycle::{Hook, HookContext, Hooks};
use agcore_llm::{Notice, ReplyDelta, ReplyItem, wire::CallFragment};

use async_trait::async_trait;

use crate::support::{FnExecutor, RawProvider, cycle};

/// Returns the items of a reply with calls of these ids, each in two fragments; the second one has the id if `late`.
fn reply(ids: &[&'static str], late: bool) -> Vec<ReplyItem> {
    let mut deltas = Vec::new();
    for (index, id) in (0_u32..).zip(ids) {
        for (is_first, input) in [(true, "{"), (false, "}")] {
            let fragment = CallFragment {
                index: Some(index),
                id: (is_first != late && !id.is_empty()).then(|| (*id).into()),
                name: is_first.then(|| "add".into()),
                input: Some(input.into()),
                ..CallFragment::default()
            };
            deltas.push(ReplyDelta::Call {
                choice: 0,
                fragment: Box::new(fragment),
            });
        }
    }
    let reason = if ids.is_empty() {
        FinishReason::Stop
    } else {
        FinishReason::ToolCalls
    };
    if ids.is_empty() {
        deltas.push(ReplyDelta::Text {
            choice: 0,
            text: "Done.".into(),
        });
    }
    deltas.push(ReplyDelta::Finish { choice: 0, reason });
    let items = deltas.into_iter().map(ReplyItem::Delta);
    items.chain([ReplyItem::End(Ok(()))]).collect()
}

/// Returns the ids of a streamed turn: those of the argument deltas, of the messages, of the starts, and of the ends of calls.
async fn ids(replies: Vec<Vec<ReplyItem>>) -> [Vec<String>; 4] {
    let provider = RawProvider::new(replies);
    let mut cycle = cycle(&provider);
    let mut turn = cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).stream();
    let mut ids: [Vec<String>; 4] = Default::default();
    while let Some(event) = turn.next().await {
        match &event.kind {
            EventKind::Text(TextEvent::ToolArguments { call_id, .. }) => ids[0].push(call_id.to_string()),
            EventKind::Text(TextEvent::MessageComplete(message)) => {
                ids[1].extend(message.tool_calls().map(|call| call.id.clone()));
            }
            EventKind::Tool(ToolEvent::Started { call_id, .. }) => ids[2].push(call_id.to_string()),
            EventKind::Tool(ToolEvent::Completed { call_id, .. }) => ids[3].push(call_id.to_string()),
            _ => {}
        }
    }
    turn.finish().await.unwrap();
    ids[0].dedup();
    ids
}

/// The ids of the calls of each round, whether they come late, and the final ids.
type Case = (&'static [&'static [&'static str]], bool, &'static [&'static str]);

#[tokio::test]
async fn deltas_have_the_final_id_from_the_first_one_on() {
    let cases: [Case; 5] = [
        (&[&["call_0"], &["call_0"]], false, &["call_0", "call_0_2"]),
        (
            &[&["call_0", "call_1"], &["call_0"]],
            false,
            &["call_0", "call_1", "call_0_2"],
        ),
        (&[&["", ""], &[""]], false, &["call_2", "call_3", "call_4"]),
        (&[&["x", "x"]], false, &["x", "x_2"]),
        // The id comes with a later fragment than the name.
        (&[&["a"], &["a"]], true, &["call_2", "call_3"]),
    ];
    for (rounds, late, expected) in cases {
        let mut replies: Vec<_> = rounds.iter().map(|ids| reply(ids, late)).collect();
        replies.push(reply(&[], late));
        let [deltas, messages, starts, ends] = ids(replies).await;
        assert_eq!(messages, expected, "{rounds:?}");
        assert_eq!(deltas, expected, "{rounds:?}");
        assert_eq!(starts, expected, "{rounds:?}");
        assert_eq!(ends, expected, "{rounds:?}");
    }
}

#[tokio::test]
async fn ids_start_over_with_another_attempt() {
    let mut broken = reply(&["call_0", "call_1"], false);
    broken.truncate(2);
    broken.push(ReplyItem::Notice(Notice::Restarted {
        fault: agcore_chat::Fault::new(agcore_chat::FaultKind::Connection, "cut"),
        usage: None,
    }));
    broken.extend(reply(&["call_7"], false));
    let [deltas, messages, ..] = ids(vec![broken, reply(&[], false)]).await;
    assert_eq!(messages, ["call_7"]);
    assert_eq!(deltas, ["call_0", "call_7"]);
}

/// Collects the ids of the calls in replies.
#[derive(Clone, Default)]
struct SeenIds(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Hook for SeenIds {
    async fn post_request(&self, context: &HookContext<'_>) {
        let calls = context.response.iter().flat_map(|response| response.tool_calls());
        self.0.lock().unwrap().extend(calls.map(|call| call.id.clone()));
    }
}

#[tokio::test]
async fn replies_have_the_final_ids_without_an_observer() {
    let replies = vec![reply(&["call_0"], false), reply(&["call_0"], false), reply(&[], false)];
    let (provider, seen) = (RawProvider::new(replies), SeenIds::default());
    let mut cycle = cycle(&provider).with_hooks(Hooks::new([Arc::new(seen.clone()) as _]));
    cycle.turn("Go").with_tools(FnExecutor::echo(&["add"])).await.unwrap();
    let messages = cycle.messages().iter().filter_map(|message| message.as_assistant());
    let kept: Vec<_> = messages
        .flat_map(|message| message.tool_calls().map(|call| call.id.clone()))
        .collect();
    assert_eq!(kept, ["call_0", "call_0_2"]);
    assert_eq!(*seen.0.lock().unwrap(), kept);
}
