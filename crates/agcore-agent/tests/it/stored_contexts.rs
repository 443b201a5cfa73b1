//! Contexts of a session in a store: in the memory of the process, in SQLite, and in PostgreSQL.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::{AgentErrorKind, AgentSpec, CONTEXT_METADATA, ContextManager, StoredSessions, agent};
use agcore_chat::{Actor, Answer, ToolCall};
use agcore_memory::InMemoryStore;
use agcore_session::{Commit, Journal, Record, SessionStore, SessionWriter, stream_of};
use agcore_testkit::{
    clock::ManualClock,
    crash::Place,
    scripted::{ScriptStep, ScriptedProvider},
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use serde_json::json;

use crate::{
    crash::{block_on, need_server, open},
    stored::store,
};

fn spec(name: &str) -> AgentSpec {
    AgentSpec::new(name, format!("You are {name}."))
}

/// Returns sessions of an agent with a tool that needs an approval.
fn sessions(model: &ScriptedProvider, store: impl SessionStore + 'static) -> StoredSessions {
    let pay = typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") });
    let builder = agent(model.clone())
        .with_clock(ManualClock::jumping())
        .with_tool(pay)
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
        .with_session_memory(Arc::new(InMemoryStore::new(Arc::new(ManualClock::jumping()))))
        .with_session_store(store);
    builder.build().unwrap().stored_sessions().unwrap()
}

async fn texts(contexts: &ContextManager, name: &str) -> Vec<String> {
    let messages = contexts.get(name).unwrap().messages().await;
    messages.iter().map(|message| message.text().into_owned()).collect()
}

/// The suite that every store passes. `reopened` returns the store as another process sees it.
async fn suite(id: &str, reopened: impl AsyncFn() -> Arc<dyn SessionStore>) {
    let model = ScriptedProvider::new([
        ScriptStep::text("A1"),
        ScriptStep::calls([ToolCall::function("c", "pay", "{}")]),
        ScriptStep::text("Paid."),
        ScriptStep::text("B2"),
        ScriptStep::text("C1"),
    ]);
    let child = |name: &str| format!("{id}/{name}");
    {
        let sessions = sessions(&model, reopened().await);
        let contexts = sessions.create_contexts(id, "a", spec("a")).await.unwrap();
        contexts.current().turn("Hello, A.").await.unwrap();
        let b = contexts.create("b", spec("b")).await.unwrap();
        assert_eq!(b.id(), child("b"));
        // One context waits for a person while another one is destroyed.
        let outcome = b.turn("Pay.").await.unwrap();
        assert_eq!(outcome.questions().len(), 1);
        contexts.create("gone", spec("gone")).await.unwrap();
        contexts.switch("b").await.unwrap();
        contexts.destroy("gone").await.unwrap();
        assert!(sessions.get(&child("gone")).await.unwrap().is_none());
        let row = sessions.get(&child("b")).await.unwrap().unwrap();
        assert_eq!(row.metadata[CONTEXT_METADATA], "b");
        assert_eq!(row.part_of.as_deref(), Some(id), "it is erased with the session");
    }
    // Another process.
    let sessions = sessions(&model, reopened().await);
    let contexts = sessions.open_contexts(id, spec).await.unwrap();
    assert_eq!(
        (contexts.names(), contexts.current_name()),
        (vec!["a".to_owned(), "b".to_owned()], "b".to_owned())
    );
    assert_eq!(texts(&contexts, "a").await, ["Hello, A.", "A1"]);
    let b = contexts.current();
    let question = b.questions().await[0].id.clone();
    b.resume([(question, Answer::approve())]).await.unwrap();
    // They share the memory of the session.
    contexts.memory().unwrap().set("city", "Rome").await.unwrap();
    b.turn("Again.").await.unwrap();
    let sent = &model.requests()[3].messages;
    assert_eq!(sent[0].text(), "You are b.");
    assert!(sent.last().unwrap().text().contains("city: Rome"));
    // The name of a destroyed context is free, and nothing is left of it.
    let again = contexts.create("gone", spec("new")).await.unwrap();
    again.turn("Hello?").await.unwrap();
    assert_eq!(model.requests()[4].messages.len(), 2);

    // Everything is deleted with the session, and other users do not see it.
    let stranger = sessions.clone().with_actor(Actor::new("acme", "eve"));
    let error = stranger.open_contexts(id, spec).await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::NotFound);
    assert!(sessions.delete(id).await.unwrap());
    for name in ["a", "b", "gone"] {
        assert!(sessions.get(&child(name)).await.unwrap().is_none(), "{name}");
    }
    let error = sessions.open_contexts(id, spec).await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::NotFound);
}

#[tokio::test]
async fn contexts_survive_in_the_memory_of_the_process() {
    let store = store();
    suite("s", async || Arc::clone(&store) as Arc<dyn SessionStore>).await;
}

#[test]
fn contexts_survive_in_sqlite() {
    let place = Place::new();
    block_on(suite("s", async || open(&place).await));
}

#[test]
fn contexts_survive_in_postgres() {
    let Some(schema) = need_server() else { return };
    let place = Place::in_schema(&schema);
    block_on(suite(&place.name(), async || open(&place).await));
}

#[tokio::test]
async fn a_change_that_the_store_refuses_does_not_happen() {
    // Fails the commit with this number, counted over all of them.
    let fails_at = Arc::new(AtomicUsize::new(usize::MAX));
    let (commits, failing) = (AtomicUsize::new(0), Arc::clone(&fails_at));
    let plan = FaultPlan::from_fn(move |_, method| {
        let is_next = method == "commit" && commits.fetch_add(1, Ordering::SeqCst) >= failing.load(Ordering::SeqCst);
        is_next.then_some(StoreFault::Fail)
    });
    let store = Arc::new(FaultyStore::new(store(), plan));
    let model = ScriptedProvider::new([]);
    let sessions = sessions(&model, Arc::clone(&store));
    let contexts = sessions.create_contexts("s", "a", spec("a")).await.unwrap();
    contexts.create("b", spec("b")).await.unwrap();
    fails_at.store(0, Ordering::SeqCst);
    for error in [
        contexts.create("c", spec("c")).await.unwrap_err(),
        contexts.switch("b").await.unwrap_err(),
        contexts.destroy("b").await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), AgentErrorKind::Unavailable, "{error}");
    }
    assert_eq!((contexts.names().len(), contexts.current_name().as_str()), (2, "a"));
    fails_at.store(usize::MAX, Ordering::SeqCst);
    contexts.switch("b").await.unwrap();
    let contexts = sessions.open_contexts("s", spec).await.unwrap();
    assert_eq!((contexts.names().len(), contexts.current_name().as_str()), (2, "b"));
}

#[tokio::test]
async fn names_and_sessions_that_do_not_fit_are_reported() {
    let store = store();
    let sessions = sessions(&ScriptedProvider::new([]), Arc::clone(&store));
    let contexts = sessions.create_contexts("s", "a", spec("a")).await.unwrap();
    let check = |error: agcore_agent::AgentError, kind: AgentErrorKind, expected: &str| {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    let invalid = AgentErrorKind::InvalidInput;
    check(
        contexts.create("a", spec("a")).await.unwrap_err(),
        invalid,
        "has a context `a` already",
    );
    let long = "x".repeat(10_000);
    check(contexts.create(long, spec("a")).await.unwrap_err(), invalid, "");
    assert_eq!(contexts.names(), ["a"]);
    check(
        sessions.create_contexts("s", "a", spec("a")).await.unwrap_err(),
        invalid,
        "",
    );
    // Nothing is left of a session whose first context has a name that is not acceptable.
    let long = "x".repeat(10_000);
    check(
        sessions.create_contexts("t", long, spec("a")).await.unwrap_err(),
        invalid,
        "",
    );
    assert!(sessions.get("t").await.unwrap().is_none());
    sessions.create("plain", spec("a")).await.unwrap();
    check(
        sessions.open_contexts("plain", spec).await.unwrap_err(),
        AgentErrorKind::NotFound,
        "has no contexts",
    );
}

#[tokio::test]
async fn a_process_that_died_between_two_writes_leaves_usable_contexts() {
    let store = store();
    let model = ScriptedProvider::new([ScriptStep::text("B1"), ScriptStep::text("B1 again")]);
    let sessions = sessions(&model, Arc::clone(&store));
    let contexts = sessions.create_contexts("s", "a", spec("a")).await.unwrap();
    let b = contexts.create("b", spec("b")).await.unwrap();
    b.turn("Hello, B.").await.unwrap();
    // A context that was noted and not stored, and one that was noted as destroyed and is stored still.
    let change = |change: &str, name: &str| {
        let data = json!({"change": change, "name": name});
        Commit::new().with_record(Record::new("context", 1, agcore_session::Timestamp::default(), data))
    };
    store.commit("local", "s", 2, change("created", "c")).await.unwrap();
    store.commit("local", "s", 3, change("destroyed", "b")).await.unwrap();

    let contexts = sessions.open_contexts("s", spec).await.unwrap();
    assert_eq!(contexts.names(), ["a", "c"]);
    assert!(contexts.get("c").unwrap().messages().await.is_empty());
    let b = contexts.create("b", spec("b")).await.unwrap();
    b.turn("Hello again.").await.unwrap();
    assert_eq!(texts(&contexts, "b").await, ["Hello again.", "B1 again"]);

    // A manager that another one has overtaken does not write.
    store.commit("local", "s", 5, change("current", "c")).await.unwrap();
    let error = contexts.switch("b").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::Conflict);
    assert_eq!(contexts.current_name(), "a");

    // Damaged records, and those of newer versions.
    let damaged = Record::new("context", 1, agcore_session::Timestamp::default(), json!({"change": 7}));
    store
        .commit("local", "s", 6, Commit::new().with_record(damaged))
        .await
        .unwrap();
    let error = sessions.open_contexts("s", spec).await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidState);
    assert!(error.to_string().contains("its record 7 cannot be read"), "{error}");
    // They do not keep it from being deleted, with all that is known.
    assert!(sessions.delete("s").await.unwrap());
    assert!(sessions.list(None, 10).await.unwrap().is_empty());
    assert!(store.read(&stream_of("local", "s"), 1).await.unwrap().is_empty());
}
