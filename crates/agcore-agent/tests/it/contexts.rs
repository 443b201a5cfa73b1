//! Several contexts of one session.

use std::sync::Arc;

use agcore_agent::{AgentErrorKind, AgentSpec, ContextManager, RuntimeBundle, agent};
use agcore_llm::provider_fn;
use agcore_memory::InMemoryStore;
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use tokio::sync::Barrier;

fn bundle(model: &ScriptedProvider) -> RuntimeBundle {
    let memory = Arc::new(InMemoryStore::new(Arc::new(ManualClock::jumping())));
    agent(model.clone())
        .with_clock(ManualClock::jumping())
        .with_session_memory(memory)
        .build()
        .unwrap()
}

fn spec(name: &str) -> AgentSpec {
    AgentSpec::new(name, format!("You are {name}."))
}

fn texts(model: &ScriptedProvider, request: usize) -> Vec<String> {
    let messages = &model.requests()[request].messages;
    messages.iter().map(|message| message.text().into_owned()).collect()
}

#[tokio::test]
async fn each_context_has_its_own_agent_and_messages() {
    let model = ScriptedProvider::new(["A1", "B1", "A2"].map(ScriptStep::text));
    let contexts = ContextManager::new(&bundle(&model), "s", "a", spec("ada"));
    contexts.current().turn("Hello, Ada.").await.unwrap();
    contexts.create("b", spec("bob")).await.unwrap();
    assert_eq!(contexts.switch("b").await.unwrap().id(), "s/b");
    contexts.current().turn("Hello, Bob.").await.unwrap();
    contexts.switch("a").await.unwrap().turn("Again.").await.unwrap();
    assert_eq!(texts(&model, 1), ["You are bob.", "Hello, Bob."]);
    assert_eq!(texts(&model, 2), ["You are ada.", "Hello, Ada.", "A1", "Again."]);
    assert_eq!(contexts.names(), ["a", "b"]);
    assert_eq!(contexts.clone().current_name(), "a");
}

#[tokio::test]
async fn contexts_share_the_memory_of_the_session_and_nothing_else() {
    let model = ScriptedProvider::new(["It is 7.", "Seven.", "Other."].map(ScriptStep::text));
    let bundle = bundle(&model);
    let contexts = ContextManager::new(&bundle, "s", "a", spec("ada"));
    let research = contexts.create("b", spec("bob")).await.unwrap();
    // Nothing was answered yet.
    let error = contexts.share("b", "finding").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidInput);
    research.turn("Count.").await.unwrap();
    contexts.share("b", "finding").await.unwrap();
    contexts.memory().unwrap().set("city", "Rome").await.unwrap();
    contexts.current().turn("How many?").await.unwrap();
    assert!(texts(&model, 1)[1].contains("city: Rome\nfinding: It is 7.\n"));
    // It is the memory of the session with this id, and of no other.
    assert_eq!(
        bundle
            .session("s", spec("ada"))
            .memory()
            .unwrap()
            .get("city")
            .await
            .unwrap()
            .as_deref(),
        Some("Rome")
    );
    bundle.session("t", spec("ada")).turn("How many?").await.unwrap();
    assert_eq!(texts(&model, 2)[1], "How many?");
}

#[tokio::test]
async fn contexts_run_side_by_side() {
    let barrier = Arc::new(Barrier::new(3));
    let model = provider_fn(move |_| {
        let barrier = Arc::clone(&barrier);
        async move {
            // Each waits until all of them are asked.
            barrier.wait().await;
            Ok(agcore_chat::ChatResponse::from_text("done"))
        }
    });
    let contexts = ContextManager::new(&agent(model).build().unwrap(), "s", "a", spec("ada"));
    let (b, c) = (
        contexts.create("b", spec("bob")).await.unwrap(),
        contexts.create("c", spec("cleo")).await.unwrap(),
    );
    let (a, b, c) = tokio::join!(
        contexts.current().turn("Go.").run(),
        b.turn("Go.").run(),
        c.turn("Go.").run()
    );
    assert!([a, b, c].into_iter().all(|outcome| outcome.unwrap().text() == "done"));
}

#[tokio::test]
async fn a_destroyed_context_is_gone_and_its_turn_is_cancelled() {
    let model = ScriptedProvider::new([ScriptStep::hang(), ScriptStep::text("New.")]);
    let contexts = ContextManager::new(&bundle(&model), "s", "a", spec("ada"));
    let b = contexts.create("b", spec("bob")).await.unwrap();
    let running = tokio::spawn(async move { b.turn("Wait.").await });
    while model.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    contexts.destroy("b").await.unwrap();
    assert_eq!(running.await.unwrap().unwrap_err().kind(), AgentErrorKind::Cancelled);
    assert!(contexts.get("b").is_none());
    // Its name is free again, and nothing is left of it.
    let again = contexts.create("b", spec("bea")).await.unwrap();
    again.turn("Hello.").await.unwrap();
    assert_eq!(texts(&model, 1), ["You are bea.", "Hello."]);

    let check = |error: agcore_agent::AgentError, expected: &str| {
        assert_eq!(error.kind(), AgentErrorKind::InvalidInput);
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(contexts.destroy("a").await.unwrap_err(), "is the current one");
    check(contexts.destroy("x").await.unwrap_err(), "has no context `x`");
    check(contexts.switch("x").await.unwrap_err(), "has no context `x`");
    check(
        contexts.create("b", spec("bob")).await.unwrap_err(),
        "has a context `b` already",
    );
}

#[tokio::test]
async fn contexts_are_saved_and_restored() {
    let model = ScriptedProvider::new(["A1", "B1", "B2"].map(ScriptStep::text));
    let bundle = bundle(&model);
    let contexts = ContextManager::new(&bundle, "s", "a", spec("ada"));
    contexts.current().turn("Hello, Ada.").await.unwrap();
    contexts
        .create("b", spec("bob"))
        .await
        .unwrap()
        .turn("Hello, Bob.")
        .await
        .unwrap();
    contexts.switch("b").await.unwrap();
    contexts.memory().unwrap().set("city", "Rome").await.unwrap();

    let saved = serde_json::to_string(&contexts.export().await).unwrap();
    let state = serde_json::from_str(&saved).unwrap();
    let contexts = ContextManager::restore(&bundle, state, spec).unwrap();
    assert_eq!(
        (contexts.names(), contexts.current_name()),
        (vec!["a".to_owned(), "b".to_owned()], "b".to_owned())
    );
    contexts.current().turn("Again.").await.unwrap();
    let sent = texts(&model, 2);
    assert_eq!(sent[..3], ["You are b.", "Hello, Bob.", "B1"]);
    assert!(sent[3].contains("city: Rome"), "{sent:?}");

    let check = |saved: String, expected: &str| {
        let error = ContextManager::restore(&bundle, serde_json::from_str(&saved).unwrap(), spec).unwrap_err();
        assert_eq!(error.kind(), AgentErrorKind::InvalidState);
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(
        saved.replacen("\"version\":1", "\"version\":9", 1),
        "its contexts have version 9",
    );
    check(
        saved.replace("\"current\":\"b\"", "\"current\":\"x\""),
        "its current context `x` is missing",
    );
}
