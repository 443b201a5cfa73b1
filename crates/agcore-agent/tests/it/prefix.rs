//! Requests extend the ones before them, so that the caches of providers can be used: over 50 turns with session memory, tools
//! and a handoff, in the bodies of every API.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore_agent::{AgentConfig, AgentSpec, Environment, agent};
use agcore_chat::{ChatRequest, ToolCall};
use agcore_cycle::CompactionSettings;
use agcore_memory::InMemoryStore;
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, typed};
use agcore_wire::{APIS, EncodeOptions};
use serde_json::{Value, value::RawValue};

const TURNS: usize = 50;

/// The turn in which the conversation is handed over.
const HANDOFF: usize = 25;

/// The turn before which the conversation is compacted.
const COMPACTION: usize = 40;

/// A request, and the turn to which it belongs.
struct Sent {
    request: Arc<ChatRequest>,
    turn: usize,
}

/// Runs all turns, and returns the requests, except for that of the summary.
async fn conversation() -> Vec<Sent> {
    let model = ScriptedProvider::new([]);
    let count = Arc::new(AtomicUsize::new(0));
    let look = typed("look", "Looks it up.", move |_: NoArguments| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        async move { Ok(format!("result {number} \"quoted\" ünïcode")) }
    });
    let mut compaction = CompactionSettings::new();
    compaction.window.keep_recent = 4;
    let config = AgentConfig::new()
        .with_compaction(compaction)
        .with_environment(Environment::new().with_time_zone("Europe/Rome", 3_600));
    let bundle = agent(model.clone())
        .with_clock(ManualClock::jumping())
        .with_config(config)
        .with_tool(look)
        .with_agent(AgentSpec::new("desk", "You answer first.").with_handoffs(["expert"]))
        .with_member(AgentSpec::new("expert", "You know everything."))
        .with_session_memory(Arc::new(InMemoryStore::new(Arc::new(ManualClock::jumping()))))
        .build()
        .unwrap();
    let session = bundle.new_session();
    let mut sent = Vec::new();
    for turn in 0..TURNS {
        if turn == COMPACTION {
            model.push(ScriptStep::text("They talked."));
            assert!(!session.compact().await.unwrap().is_unchanged());
        }
        let before = model.requests().len();
        if turn == HANDOFF {
            model.push(ScriptStep::calls([ToolCall::function("h", "transfer_to_expert", "{}")]));
        } else if turn % 3 == 0 {
            let calls = ["a", "b"].map(|id| ToolCall::function(format!("{id}{turn}"), "look", "{}"));
            model.push(ScriptStep::calls(calls));
        }
        if turn % 5 == 0 {
            session
                .memory()
                .unwrap()
                .set("note", format!("noted in turn {turn}"))
                .await
                .unwrap();
        }
        model.push(ScriptStep::text(format!("Answer {turn}. ").repeat(20)));
        session.turn(format!("Question {turn}?")).await.unwrap();
        let requests = model.requests();
        sent.extend(requests.iter().skip(before).map(|request| Sent {
            request: Arc::clone(request),
            turn,
        }));
    }
    assert_eq!(session.agent().name(), "expert");
    sent
}

/// The parts of a body: the list of messages as it is sent, and everything else.
struct Body {
    messages: Vec<String>,
    rest: String,
}

/// The mark by which a request of the Messages API shows how far to cache. It moves on with each request, and is not compared
/// with the cache.
const CACHE_MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

fn body(bytes: &[u8]) -> Body {
    let text = std::str::from_utf8(bytes).unwrap().replace(CACHE_MARK, "");
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&text).unwrap();
    let list = ["messages", "input", "contents"]
        .iter()
        .find_map(|name| members.remove(*name));
    let list = list.unwrap();
    let messages: Vec<Box<RawValue>> = serde_json::from_str(list.get()).unwrap();
    Body {
        messages: messages.iter().map(|message| message.get().to_owned()).collect(),
        rest: format!("{members:?}"),
    }
}

/// Returns the beginning of the list that does not depend on the agent.
fn without_system(messages: &[String]) -> &[String] {
    let is_system = messages.first().is_some_and(|first| {
        let first: Value = serde_json::from_str(first).unwrap();
        first["role"] == "system" || first["role"] == "developer"
    });
    &messages[usize::from(is_system)..]
}

#[tokio::test]
async fn each_request_extends_the_one_before() {
    let sent = conversation().await;
    assert!(sent.len() > TURNS + TURNS / 3, "{}", sent.len());
    for api in APIS {
        let wire = api.wire();
        let mut compared = 0;
        for pair in sent.windows(2) {
            let [before, after] = pair else { unreachable!() };
            let encode = |sent: &Sent| body(&wire.encode(&sent.request, &EncodeOptions::new("model-1")).unwrap().body);
            let place = format!("{} turn {} to {}", api.name, before.turn, after.turn);
            let is_handoff = before.turn == HANDOFF && after.turn == HANDOFF;
            let is_compacted = before.turn + 1 == COMPACTION && after.turn == COMPACTION;
            let (before, after) = (encode(before), encode(after));
            if is_compacted {
                assert!(after.messages.len() < before.messages.len(), "{place}");
                continue;
            }
            let (old, new) = match is_handoff {
                // The instructions are those of another agent; the conversation stays.
                true => (without_system(&before.messages), without_system(&after.messages)),
                false => {
                    assert_eq!(before.rest, after.rest, "{place}");
                    (&*before.messages, &*after.messages)
                }
            };
            assert!(new.len() > old.len(), "{place}");
            for (old, new) in old.iter().zip(new) {
                assert_eq!(old, new, "{place}");
            }
            compared += 1;
        }
        assert_eq!(compared, sent.len() - 2, "{}", api.name);
    }
}
