//! Staged flows from files: every request that the models get, short cuts, corrections, failures.

use agcore_agent::AgentBuilder;
use agcore_chat::{Actor, ToolCall};
use agcore_flow::{Checkpoints, Flow, FlowErrorKind, FlowEvent};
use agcore_flow_files::{ExecutionStatus, FlowFile, IntentRoute, StagedFlow, StagedState};
use agcore_profile::{ProfileDocument, UserAgentContext, Uuid, build_global_system_prompt};
use agcore_session::Visibility;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};

use crate::support::{Events, clock, store};

const FILE: &str = include_str!("staged/support.flow.yaml");

const DIRECT: &str = r#"{"route": "DIRECT_EXECUTION", "intent_summary": "a greeting", "assistant_text": "Hello!",
    "execution_brief": null, "safety_flags": []}"#;
const NEEDS: &str = r#"{"route": "NEEDS_EXECUTION", "intent_summary": "the state of order 7", "assistant_text": null,
    "execution_brief": "Look up order 7.", "safety_flags": []}"#;
const EXECUTED: &str = r#"{"status": "SUCCESS", "execution_summary": "found", "execution_data": {"order": 7, "state": "sent"},
    "report_brief": "Order 7 was sent."}"#;
const REPORT: &str = r#"{"assistant_text": "Your order is on its way.", "response_metadata": {"tone": "friendly"}}"#;

/// Returns the system prompt that describes a user.
async fn profile() -> String {
    let user = Uuid::from_u128(7);
    let text = format!("profiles:\n  - user_id: {user}\n    username: Ada\n    bio: Likes tea.\n");
    let profiles = ProfileDocument::from_yaml(&text).unwrap();
    let context = UserAgentContext::load(&profiles, user).await.unwrap();
    build_global_system_prompt(&context).unwrap()
}

async fn flow(model: &ScriptedProvider) -> Flow<StagedState> {
    let file = FlowFile::parse("support.flow.yaml", FILE, |_| Err("none".to_owned())).unwrap();
    let order = typed("order", "Looks up an order.", |_: NoArguments| async {
        Ok("order 7: sent")
    });
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_tool(order)
        .build()
        .unwrap();
    let flow = StagedFlow::new(file, bundle).with_system_prompt(profile().await);
    flow.build(clock()).unwrap()
}

fn state() -> StagedState {
    StagedState::new("Where is order 7?").with_variable("shop", "Tea & Co")
}

/// Returns the requests as JSON.
fn requests(model: &ScriptedProvider) -> String {
    serde_json::to_string_pretty(&model.requests()).unwrap()
}

#[tokio::test]
async fn three_stages() {
    let model = ScriptedProvider::new([
        ScriptStep::text(NEEDS),
        ScriptStep::calls([ToolCall::function("call_1", "order", "{}")]),
        ScriptStep::text(EXECUTED),
        ScriptStep::text(REPORT),
    ]);
    let checkpoints = Checkpoints::create(store(), &Actor::local(), "session", "run")
        .await
        .unwrap();
    let events = Events::default();
    let run = flow(&model).await.run(state()).with_checkpoints(checkpoints.clone());
    let state = run
        .with_observer(events.observer())
        .await
        .unwrap()
        .into_state()
        .unwrap();
    assert_eq!(state.answer(), Some("Your order is on its way."));
    assert_eq!(state.execution.as_ref().unwrap().status, ExecutionStatus::Success);
    insta::assert_snapshot!("three_stages.requests", requests(&model));
    for request in model.requests() {
        let system = request.messages[0].text().into_owned();
        assert!(
            system.starts_with("# System Policy\n") && system.contains(r#""username":"Ada""#),
            "{system}"
        );
    }
    let messages = state.messages("run-1");
    let names: Vec<(&str, Visibility)> = messages
        .iter()
        .map(|message| (message.id.as_str(), message.visibility))
        .collect();
    let (seen, audit) = (Visibility::EVERYWHERE, Visibility::NOWHERE);
    let expected = [
        ("run-1-request", seen),
        ("run-1-intent", audit),
        ("run-1-execution", audit),
        ("run-1-report", audit),
        ("run-1-answer", seen),
    ];
    assert_eq!(names, expected);
    assert!(messages[2].content.contains("SUCCESS"), "{}", messages[2].content);
    // The results of the stages are in the records, with their usage.
    let records = checkpoints.records().await.unwrap();
    let tokens: Vec<_> = records
        .iter()
        .map(|record| record.usage.as_ref().unwrap().total())
        .collect();
    assert_eq!(tokens, [Some(15), Some(30), Some(15)]);
    assert_eq!(records[1].data.as_ref().unwrap()["execution_data"]["order"], 7);
    assert!(
        events
            .all()
            .iter()
            .any(|event| matches!(event, FlowEvent::Agent { node, .. } if node == "task_execution"))
    );
}

#[tokio::test]
async fn a_direct_answer_calls_nothing_else() {
    let model = ScriptedProvider::new([ScriptStep::text(DIRECT)]);
    let state = flow(&model).await.run(state()).await.unwrap().into_state().unwrap();
    assert_eq!(state.answer(), Some("Hello!"));
    let seen = state.messages("run-1").into_iter();
    let seen: Vec<String> = seen
        .filter(|message| message.visibility == Visibility::EVERYWHERE)
        .map(|message| message.content)
        .collect();
    assert_eq!(seen, [state.request.as_str(), "Hello!"]);
    assert_eq!(state.intent.unwrap().route, IntentRoute::DirectExecution);
    assert_eq!((model.requests().len(), state.execution, state.report), (1, None, None));
}

#[tokio::test]
async fn results_that_do_not_fit_are_corrected() {
    let without_brief = NEEDS.replace("\"Look up order 7.\"", "null");
    let model = ScriptedProvider::new([
        ScriptStep::text("It is a question about an order."),
        ScriptStep::text(without_brief),
        ScriptStep::text(DIRECT),
    ]);
    let state = flow(&model).await.run(state()).await.unwrap().into_state().unwrap();
    assert_eq!(state.answer(), Some("Hello!"));
    let last = model.requests()[2].messages.last().unwrap().text().into_owned();
    assert!(
        last.contains("`execution_brief` is required with the route NEEDS_EXECUTION"),
        "{last}"
    );
}

#[tokio::test]
async fn models_that_never_fit_are_errors_and_can_be_resumed() {
    let other_route = NEEDS.replace("NEEDS_EXECUTION", "ASK_SOMEBODY");
    let wrong = (0..3).map(|_| ScriptStep::text(other_route.clone()));
    let model = ScriptedProvider::new(wrong);
    let checkpoints = Checkpoints::create(store(), &Actor::local(), "session", "run")
        .await
        .unwrap();
    let flow = flow(&model).await;
    let error = flow
        .run(state())
        .with_checkpoints(checkpoints.clone())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.failed_node()),
        (FlowErrorKind::NodeFailed, Some("intent_recognition"))
    );
    model.push(ScriptStep::text(DIRECT));
    let state = flow.resume(checkpoints).await.unwrap().into_state().unwrap();
    assert_eq!(state.answer(), Some("Hello!"));
}

#[tokio::test]
async fn missing_variables_and_tools_are_errors() {
    let model = ScriptedProvider::new([]);
    let error = flow(&model).await.run(StagedState::new("Hi")).await.unwrap_err();
    assert!(format!("{error:?}").contains("shop"), "{error:?}");
    assert!(!error.is_recoverable());
    let file = FlowFile::parse("f", FILE, |_| Err("none".to_owned())).unwrap();
    let bundle = AgentBuilder::new().with_provider(model).build().unwrap();
    let error = StagedFlow::new(file, bundle).build(clock()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the agent `worker` needs the tool `order`, which is not registered"
    );
}
