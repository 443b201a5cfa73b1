//! Flows whose nodes and edges are in a file.

use agcore_agent::AgentBuilder;
use agcore_flow::{Flow, FlowErrorKind, FlowOutcome};
use agcore_flow_files::{FlowFile, GraphFlow, GraphState};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::json;

use crate::support::clock;

const FILE: &str = include_str!("flows/article.flow.yaml");

fn flow(model: &ScriptedProvider) -> Flow<GraphState> {
    let file = FlowFile::parse("article.flow.yaml", FILE, |_| Err("none".to_owned())).unwrap();
    let bundle = AgentBuilder::new().with_provider(model.clone()).build().unwrap();
    let flow = GraphFlow::new(file, bundle).with_system_prompt("# System Policy");
    flow.build(clock()).unwrap()
}

fn state() -> GraphState {
    GraphState::new("tea").with_variable("tone", "calm")
}

fn verdict(route: &str, score: i64) -> ScriptStep {
    ScriptStep::text(json!({"route": route, "result": {"score": score}}).to_string())
}

fn waiting(outcome: FlowOutcome<GraphState>) -> (String, agcore_flow::SavedRun) {
    match outcome {
        FlowOutcome::Suspended(suspension) => (suspension.interrupts[0].id.clone(), suspension.saved),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn forks_routes_and_people() {
    let model = ScriptedProvider::new([
        ScriptStep::text("about tea"),
        ScriptStep::text("one"),
        ScriptStep::text("two"),
        ScriptStep::text("an outline"),
        ScriptStep::text("first draft"),
        verdict("rejected", 3),
        ScriptStep::text("second draft"),
        verdict("perfect", 9),
        verdict("accepted", 11),
        verdict("accepted", 9),
    ]);
    let flow = flow(&model);
    let outcome = flow.run(state()).await.unwrap();
    assert_eq!(outcome.interrupts()[0].prompt, json!("Publish this? second draft"));
    let requests = model.requests();
    for request in &requests {
        assert!(request.messages[0].text().starts_with("# System Policy\n\n"));
    }
    let draft = requests[4].messages[1].text().into_owned();
    assert!(
        draft.contains("from one and two.") || draft.contains("from two and one."),
        "{draft}"
    );
    // Neither a route that does not exist nor a result that does not fit the schema passes.
    let route = requests[8].messages.last().unwrap().text().into_owned();
    assert!(
        route.contains(r#"$.route: "perfect" is not one of "rejected" or "accepted""#),
        "{route}"
    );
    let score = requests[9].messages.last().unwrap().text().into_owned();
    assert!(score.contains("11 is greater than the maximum of 10"), "{score}");

    let (question, saved) = waiting(outcome);
    let error = flow
        .resume(saved.clone())
        .with_answer(question.clone(), "perhaps")
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.failed_node()),
        (FlowErrorKind::NodeFailed, Some("publish"))
    );
    let state = flow
        .resume(saved)
        .with_answer(question, "yes")
        .await
        .unwrap()
        .into_state()
        .unwrap();
    assert_eq!(state.answer(), Some(&json!("yes")));
    assert_eq!(state.results["review"], json!({"score": 9}));
    assert_eq!(state.results["quotes"].as_str().map(str::len), Some(3));
}

#[tokio::test]
async fn a_limit_leads_to_its_exit() {
    let notes = ["about tea", "one", "two", "an outline"].map(ScriptStep::text);
    let rounds = (0..3).flat_map(|_| [ScriptStep::text("a draft"), verdict("rejected", 0)]);
    let model = ScriptedProvider::new(notes.into_iter().chain(rounds));
    let outcome = flow(&model).run(state()).await.unwrap();
    assert_eq!(outcome.interrupts()[0].node, "publish");
    assert_eq!(model.requests().len(), 10);
}
