//! A store that fails in the middle of a turn.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_agent::{AgentBuilder, AgentErrorKind, AgentSession, AgentSpec, StoredSessions};
use agcore_chat::{Answer, ChatResponse, QuestionKind};
use agcore_cycle::TurnOutcome;
use agcore_llm::{LlmProvider, provider_fn};
use agcore_session::{InMemorySessionStore, SessionStore};
use agcore_testkit::{
    clock::ManualClock,
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use agcore_tools::{NoArguments, ToolContext, typed};

use crate::stored::{call, store};

/// A list of what the model and the tools did.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    /// Adds the key of a call.
    fn key(&self, context: &ToolContext) {
        let key = context.idempotency_key().unwrap_or_else(|| "none".to_owned());
        self.add(format!("key {} {key}", context.call_id()));
    }

    /// Returns the keys of each call.
    fn keys(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut keys = BTreeMap::<_, BTreeSet<_>>::new();
        for line in &*self.0.lock().unwrap() {
            if let Some((call, key)) = line.strip_prefix("key ").and_then(|line| line.split_once(' ')) {
                keys.entry(call.to_owned()).or_default().insert(key.to_owned());
            }
        }
        keys
    }

    fn count(&self, line: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|known| *known == line).count()
    }
}

fn spec() -> AgentSpec {
    AgentSpec::new("ada", "")
}

/// Returns a model that calls two tools, then one more, and then answers.
fn provider(log: &Log) -> impl LlmProvider + 'static {
    let asked = log.clone();
    provider_fn(move |call_of_model| {
        let rounds = call_of_model
            .request
            .messages
            .iter()
            .filter(|message| message.as_assistant().is_some())
            .count();
        asked.add(format!("reply {rounds}"));
        async move {
            let mut response = ChatResponse::from_text(if rounds >= 2 { "Done." } else { "" });
            let message = &mut response.choices[0].message;
            *message = match rounds {
                0 => agcore_chat::AssistantMessage::default()
                    .with_call(call("a", "append"))
                    .with_call(call("b", "put")),
                1 => agcore_chat::AssistantMessage::default().with_call(call("c", "append")),
                _ => std::mem::take(message),
            };
            Ok(response)
        }
    })
}

/// Adds the tools of the model.
fn tools(log: &Log, builder: AgentBuilder) -> AgentBuilder {
    let (appended, put) = (log.clone(), log.clone());
    let append = typed("append", "Appends.", move |_: NoArguments, context: ToolContext| {
        appended.add("append");
        appended.key(&context);
        async { Ok("appended") }
    });
    let put = typed("put", "Puts.", move |_: NoArguments, context: ToolContext| {
        put.add("put");
        put.key(&context);
        async { Ok("put") }
    });
    builder
        .with_tool(append)
        .with_tool(put.with_annotations(agcore_chat::ToolAnnotations::new().with_idempotent(true)))
}

fn sessions(log: &Log, store: impl SessionStore + 'static) -> StoredSessions {
    let builder = AgentBuilder::new()
        .with_provider(provider(log))
        .with_clock(ManualClock::jumping())
        .with_session_store(store);
    let bundle = tools(log, builder).build().unwrap();
    // Otherwise, no turn would notice that the store fails once.
    bundle.stored_sessions().unwrap().with_store_patience(Duration::ZERO)
}

/// Continues the session until its turn has ended. Returns the ids of the calls about which a person was asked.
async fn finish(session: &AgentSession) -> (TurnOutcome, Vec<String>) {
    let mut asked = Vec::new();
    let mut outcome = if session.is_interrupted().await {
        session.resume([]).await.unwrap()
    } else if session.messages().await.is_empty() {
        session.turn("Go").await.unwrap()
    } else {
        session.turn("And?").await.unwrap()
    };
    while !outcome.questions().is_empty() {
        let questions = outcome.questions().to_vec();
        assert!(
            questions
                .iter()
                .all(|question| question.kind == QuestionKind::Uncertain)
        );
        asked.extend(questions.iter().map(|question| question.call_id.to_string()));
        let answers = questions
            .into_iter()
            .map(|question| (question.id, Answer::deny("it ran")));
        outcome = session.resume(answers).await.unwrap();
    }
    (outcome, asked)
}

/// Runs a turn whose write with this number goes wrong. Returns whether there was such a write.
async fn check(fault: StoreFault, number: usize) -> bool {
    let place = format!("{fault:?} at write {number}");
    let (log, inner) = (Log::default(), store());
    let writes = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = Arc::clone(&writes);
    let plan = FaultPlan::from_fn(move |_, method| {
        let is_due = method == "commit" && counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == number;
        is_due.then_some(fault)
    });
    let failing = sessions(&log, FaultyStore::new(Arc::clone(&inner), plan));
    let session = failing.create("s-1", spec()).await.unwrap();
    let first = session.turn("Go").await;
    if writes.load(std::sync::atomic::Ordering::Relaxed) <= number {
        assert_eq!(first.unwrap().text(), "Done.");
        return false;
    }
    let error = first.expect_err(&place);
    assert_eq!(error.kind(), AgentErrorKind::Unavailable, "{place}: {error}");
    assert!(error.is_retryable() && error.fault().retryable, "{place}");
    assert!(
        error.to_string().contains("resume it when the store works again"),
        "{place}: {error}"
    );

    // In another process.
    let reopened = sessions(&log, Arc::<InMemorySessionStore>::clone(&inner))
        .open("s-1", spec())
        .await
        .unwrap();
    let uncertain: Vec<String> = reopened
        .uncertain_calls()
        .await
        .iter()
        .map(|call| call.id.clone())
        .collect();
    let (outcome, asked) = finish(&reopened).await;
    assert_eq!(outcome.text(), "Done.", "{place}");
    assert!(
        asked.iter().all(|call| call != "b" && uncertain.contains(call)),
        "{place}: {asked:?} of {uncertain:?}"
    );
    assert_eq!(
        uncertain.iter().filter(|call| *call != "b").count(),
        asked.len(),
        "{place}: a person decides about each call whose outcome is unknown and that must not be repeated"
    );
    let keys = log.keys();
    assert!(
        keys.values().all(|keys| keys.len() == 1),
        "{place}: a repeated call has the same key: {keys:?}"
    );
    let different: BTreeSet<_> = keys.values().flatten().collect();
    assert!(
        different.len() == keys.len() && !different.contains(&"none".to_owned()),
        "{place}: {keys:?}"
    );
    // Those that were repeated without a question are idempotent.
    assert!(log.count("append") <= 2, "{place}");
    assert_eq!(
        log.count("append") + asked.iter().filter(|_| log.count("append") < 2).count(),
        2,
        "{place}"
    );
    true
}

#[tokio::test]
async fn no_two_calls_have_the_same_key() {
    let (log, clock) = (Log::default(), Arc::new(ManualClock::new()));
    let sessions = sessions(&log, InMemorySessionStore::new(Arc::clone(&clock) as _));
    let mut all = BTreeSet::new();
    // Another session gets the id of one that was deleted, and the model gives its calls the same ids.
    for id in ["s-1", "s-2", "s-1"] {
        sessions.create(id, spec()).await.unwrap().turn("Go").await.unwrap();
        let keys: Vec<_> = log.keys().into_values().flatten().collect();
        assert_eq!(keys.len(), 3);
        all.extend(keys);
        log.0.lock().unwrap().clear();
        sessions.delete(id).await.unwrap();
        clock.advance(Duration::from_millis(1));
    }
    assert_eq!(all.len(), 9, "{all:?}");
    assert!(!all.contains("none"));

    // Nothing remembers the calls of a session without a store.
    let bundle = AgentBuilder::new()
        .with_provider(provider(&log))
        .with_clock(ManualClock::jumping());
    let bundle = tools(&log, bundle).build().unwrap();
    bundle.session("s-1", spec()).turn("Go").await.unwrap();
    assert_eq!(
        log.keys().into_values().flatten().collect::<BTreeSet<_>>(),
        BTreeSet::from(["none".to_owned()])
    );
}

#[tokio::test]
async fn a_store_that_fails_at_any_write_loses_nothing() {
    for fault in [
        StoreFault::Fail,
        StoreFault::LoseAnswer,
        StoreFault::Abandon { polls: 0 },
    ] {
        let mut number = 0;
        while check(fault, number).await {
            number += 1;
        }
        assert!(number >= 6, "{number} writes");
    }
}

/// The same session object continues once the store works again.
#[tokio::test]
async fn the_same_session_continues_when_the_store_works_again() {
    for fault in [StoreFault::Fail, StoreFault::Abandon { polls: 0 }] {
        for number in 1..7 {
            let place = format!("{fault:?} at call {number}");
            let (log, inner) = (Log::default(), store());
            let faulty = FaultyStore::new(Arc::clone(&inner), FaultPlan::new().with_fault(number, fault));
            let sessions = sessions(&log, faulty);
            let session = sessions.create("s-1", spec()).await.unwrap();
            session.turn("Go").await.expect_err(&place);
            let (outcome, _) = finish(&session).await;
            assert_eq!(outcome.text(), "Done.", "{place}");
            assert_eq!(
                log.count("reply 0") + log.count("reply 1") + log.count("reply 2"),
                3,
                "{place}: asked again"
            );
            let opened = sessions.open("s-1", spec()).await.unwrap();
            assert_eq!(opened.messages().await, session.messages().await, "{place}");
        }
    }
}

/// A store that is away for a while, at any write: with the default patience, what has happened is stored when it is back.
#[tokio::test]
async fn a_result_is_kept_until_the_store_is_back() {
    let mut healed = 0;
    for fault in [
        StoreFault::Fail,
        StoreFault::LoseAnswer,
        StoreFault::Abandon { polls: 0 },
    ] {
        for number in 1..7 {
            let (log, inner) = (Log::default(), store());
            let plan = (number..number + 5).fold(FaultPlan::new(), |plan, number| plan.with_fault(number, fault));
            let faulty = FaultyStore::new(Arc::clone(&inner), plan);
            let sessions = sessions(&log, faulty).with_store_patience(Duration::from_secs(30));
            let session = sessions.create("s-1", spec()).await.unwrap();
            let Ok(outcome) = session.turn("Go").await else {
                continue;
            };
            healed += 1;
            assert_eq!(outcome.text(), "Done.");
            assert_eq!(
                (log.count("append"), log.count("put")),
                (2, 1),
                "{fault:?} at call {number}"
            );
            let opened = sessions.open("s-1", spec()).await;
            // The faults of calls that the turn did not need.
            if let Ok(opened) = opened {
                assert_eq!(opened.messages().await, session.messages().await);
                assert!(!opened.is_interrupted().await && opened.uncertain_calls().await.is_empty());
            }
        }
    }
    assert_eq!(healed, 3 * 5);
}
