//! States that agents share with applications.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use agcore_agent::{
    AgentBuilder, AgentErrorKind, AgentSpec, LocalState, SharedState, SharedStateError, StateChange, StateVersion,
};
use agcore_chat::{Message, ToolCall};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};
use async_trait::async_trait;
use serde_json::{Value, json};

fn update(id: &str, version: u64, patch: &Value) -> ToolCall {
    ToolCall::function(
        id,
        "update_state",
        json!({"version": version, "patch": patch}).to_string(),
    )
}

fn set(value: u64) -> Value {
    json!([{"op": "replace", "path": "/n", "value": value}])
}

/// Returns the texts of the results that the model has got with its last request.
fn results(provider: &ScriptedProvider) -> Vec<String> {
    let requests = provider.requests();
    let messages = requests.last().unwrap().messages.iter();
    let results = messages.filter(|message| matches!(***message, Message::Tool(_)));
    results.map(|message| message.text().into_owned()).collect()
}

fn shows(provider: &ScriptedProvider, request: usize, state: &Value) -> bool {
    let requests = provider.requests();
    let texts: Vec<_> = requests[request]
        .messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    texts
        .iter()
        .any(|text| text.contains("<shared-state") && text.contains(&state.to_string()))
}

fn builder(provider: &ScriptedProvider) -> AgentBuilder {
    AgentBuilder::new().with_provider(provider.clone())
}

fn clerk() -> AgentSpec {
    AgentSpec::new("clerk", "You count.")
}

#[tokio::test]
async fn a_model_that_has_not_seen_a_change_does_not_overwrite_it() {
    let state = Arc::new(LocalState::new(json!({"n": 1})));
    let provider = ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("c1", "wait", "{}"), update("c2", 1, &set(3))]),
        ScriptStep::calls([update("c3", 2, &set(4))]),
        ScriptStep::text("Done."),
    ]);
    // The user changes the state after the model has seen it.
    let user = Arc::clone(&state);
    let wait = typed("wait", "Waits.", move |_: NoArguments| {
        let user = Arc::clone(&user);
        async move {
            user.write(1, StateChange::new(json!({"n": 2}))).await.unwrap();
            Ok("waited")
        }
    });
    let bundle = builder(&provider).with_tool(wait).build().unwrap();
    let bundle = bundle.with_shared_state(state.clone()).unwrap();
    bundle.session("s", clerk()).turn("Count.").await.unwrap();

    assert!(shows(&provider, 0, &json!({"n": 1})) && shows(&provider, 1, &json!({"n": 2})));
    let results = results(&provider);
    assert!(results[1].contains("version 2 is the newest"), "{results:?}");
    assert_eq!(results[2], "the state has version 3 now");
    assert_eq!(state.read().await.unwrap().value, json!({"n": 4}));
}

#[tokio::test]
async fn what_does_not_fit_changes_nothing() {
    let state = Arc::new(LocalState::new(json!({"n": 1})));
    let provider = ScriptedProvider::new([
        ScriptStep::calls([
            update("c1", 1, &json!([{"op": "replace", "path": "/m", "value": 1}])),
            update("c2", 1, &json!("n = 2")),
            update(
                "c3",
                1,
                &json!([{"op": "add", "path": "/text", "value": "x".repeat(70_000)}]),
            ),
            update(
                "c4",
                1,
                &json!([{"op": "test", "path": "/n", "value": 7}, {"op": "remove", "path": "/n"}]),
            ),
        ]),
        ScriptStep::text("I give up."),
    ]);
    let bundle = builder(&provider)
        .build()
        .unwrap()
        .with_shared_state(state.clone())
        .unwrap();
    bundle.session("s", clerk()).turn("Count.").await.unwrap();
    let results = results(&provider);
    for (result, expected) in results
        .iter()
        .zip(["operation 0", "$.patch", "65536 are allowed", "operation 0"])
    {
        assert!(result.contains(expected), "{result} lacks {expected}");
    }
    assert_eq!(state.read().await.unwrap(), StateVersion::new(1, json!({"n": 1})));
}

/// A state whose first write takes place, but is not acknowledged.
struct LostReply {
    state: LocalState,
    is_lost: AtomicBool,
}

#[async_trait]
impl SharedState for LostReply {
    async fn read(&self) -> Result<StateVersion, SharedStateError> {
        self.state.read().await
    }

    async fn write(&self, base: u64, change: StateChange) -> Result<u64, SharedStateError> {
        let version = self.state.write(base, change).await?;
        match self.is_lost.swap(true, Ordering::Relaxed) {
            true => Ok(version),
            false => Err(SharedStateError::Unavailable("the connection was closed".into())),
        }
    }
}

#[tokio::test]
async fn an_unknown_outcome_is_reported_and_visible() {
    let state = Arc::new(LostReply {
        state: LocalState::new(json!({"n": 1})),
        is_lost: AtomicBool::new(false),
    });
    let provider = ScriptedProvider::new([ScriptStep::calls([update("c1", 1, &set(2))]), ScriptStep::text("Done.")]);
    let bundle = builder(&provider).build().unwrap().with_shared_state(state).unwrap();
    bundle.session("s", clerk()).turn("Count.").await.unwrap();
    let results = results(&provider);
    assert!(results[0].contains("unknown whether"), "{results:?}");
    assert!(shows(&provider, 1, &json!({"n": 2})));
}

#[tokio::test]
async fn the_tool_has_its_name_alone() {
    let provider = ScriptedProvider::new([]);
    let own = typed("update_state", "Own.", |_: NoArguments| async { Ok(()) });
    let bundle = builder(&provider).with_tool(own).build().unwrap();
    let error = bundle
        .with_shared_state(Arc::new(LocalState::new(json!(1))))
        .err()
        .unwrap();
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
}
