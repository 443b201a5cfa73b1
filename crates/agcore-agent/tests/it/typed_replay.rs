//! Replays of turns whose answer is a value of a type.

use agcore_agent::{
    AgentError, AgentErrorKind, ReplayErrorKind, ReplayReport, RuntimeBundle, StoredSessions, Trajectory,
};
use agcore_chat::{Answer, ToolCall};
use agcore_cycle::{
    Output, OutputMode, TypedOptions,
    machine::{Expectation, Outcome, Verdict},
};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::stored::{ada, builder, call, sessions, store};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct City {
    name: String,
}

const OSLO: &str = r#"{"name": "Oslo"}"#;

fn in_mode(mode: OutputMode) -> Output<City> {
    Output::new(TypedOptions::new().with_mode(mode))
}

/// Returns sessions whose model answers like this.
fn scripted(steps: impl IntoIterator<Item = ScriptStep>) -> StoredSessions {
    sessions(&ScriptedProvider::new(steps), store())
}

/// Returns a bundle whose model must not be called.
fn silent() -> RuntimeBundle {
    builder(&ScriptedProvider::new([])).build().unwrap()
}

async fn replayed(trajectory: &Trajectory) -> ReplayReport {
    silent().replay(trajectory, ada()).await.unwrap()
}

/// Returns the trajectory without some outcomes.
fn without(trajectory: &Trajectory, is_removed: impl Fn(&Outcome) -> bool) -> Vec<agcore_agent::TrajectoryEntry> {
    let entries = trajectory.entries().iter().cloned();
    let kept = entries.map(|mut entry| {
        entry.outcomes.retain(|outcome| !is_removed(outcome));
        entry
    });
    kept.collect()
}

#[tokio::test]
async fn a_corrected_answer_is_replayed_in_each_mode() {
    let answer = |value: &str| ScriptStep::calls([ToolCall::function("f", "final_answer", value)]);
    for (mode, steps) in [
        (OutputMode::Native, ["{}", OSLO].map(ScriptStep::text)),
        (OutputMode::Prompt, ["Oslo!", OSLO].map(ScriptStep::text)),
        (OutputMode::Tool, ["{}", OSLO].map(answer)),
    ] {
        let [first, second] = steps;
        let used = ScriptStep::calls([call("a", "say")]);
        let sessions = scripted([used, first, second, ScriptStep::text("Yes.")]);
        let session = sessions.create("s-1", ada()).await.unwrap();
        let city = session
            .turn("The capital of Norway?")
            .typed_as(in_mode(mode))
            .await
            .unwrap();
        assert_eq!(city.into_value().unwrap().name, "Oslo", "{mode:?}");
        session.turn("Sure?").await.unwrap();
        let trajectory = sessions.trajectory("s-1").await.unwrap();
        let report = replayed(&trajectory).await;
        assert_eq!(
            (report.turns, report.replies, report.tool_results),
            (2, 4, 1),
            "{mode:?}"
        );
    }
}

#[tokio::test]
async fn answers_that_never_fit_fail_again() {
    let sessions = scripted(
        (0..3)
            .map(|_| ScriptStep::text("{}"))
            .chain([ScriptStep::text("Oslo.")]),
    );
    let session = sessions.create("s-1", ada()).await.unwrap();
    let error: AgentError = session.turn("And?").typed::<City>().await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidOutput);
    session.turn("In words?").await.unwrap();
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    assert_eq!(replayed(&trajectory).await.replies, 4);
}

#[tokio::test]
async fn a_refusal_of_the_vendor_leads_to_the_recorded_mode() {
    let refused = LlmError::new(LlmErrorKind::InvalidRequest, "response_format is not supported");
    let sessions = scripted([
        ScriptStep::error(refused),
        ScriptStep::calls([ToolCall::function("f", "final_answer", OSLO)]),
    ]);
    let session = sessions.create("s-1", ada()).await.unwrap();
    let city = session.turn("The capital of Norway?").typed::<City>().await.unwrap();
    assert_eq!(city.finished().unwrap().mode, OutputMode::Tool);
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    let is_recast = |outcome: &Outcome| matches!(outcome, Outcome::Recast(OutputMode::Tool));
    assert!(
        trajectory
            .entries()
            .iter()
            .flat_map(|entry| &entry.outcomes)
            .any(is_recast)
    );
    // A refused request is not a reply.
    assert_eq!(replayed(&trajectory).await.replies, 1);
}

#[tokio::test]
async fn a_suspended_turn_continues_with_its_type() {
    let sessions = scripted([ScriptStep::calls([call("p", "pay")]), ScriptStep::text(OSLO)]);
    let session = sessions.create("s-1", ada()).await.unwrap();
    let outcome = session.turn("Pay and answer.").typed::<City>().await.unwrap();
    let question = outcome.questions()[0].id.clone();
    let city = session
        .resume([(question, Answer::approve())])
        .typed::<City>()
        .await
        .unwrap();
    assert!(city.value().is_some());
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    let report = replayed(&trajectory).await;
    assert_eq!((report.turns, report.replies), (1, 2));
}

#[tokio::test]
async fn differences_are_found() {
    let sessions = scripted([ScriptStep::text("{}"), ScriptStep::text(OSLO)]);
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("And?").typed::<City>().await.unwrap();
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    replayed(&trajectory).await;

    // Another number of corrections: the machine that reads it would not ask again.
    let mut entries = trajectory.entries().to_vec();
    for outcome in entries.iter_mut().flat_map(|entry| &mut entry.outcomes) {
        if let Outcome::TurnStarted(begin) = outcome {
            begin.expectation = Some(Expectation::new(OutputMode::Native, "final_answer", 0));
        }
    }
    let error = Trajectory::new("s-1", entries).unwrap_err();
    assert!(error.to_string().contains("do not follow from each other"), "{error}");

    // Without its last check, the recording ends in the middle of the turn, which is not a difference.
    let cut = without(&trajectory, |outcome| {
        matches!(outcome, Outcome::Verdict(Verdict::Accepted))
    });
    let cut = Trajectory::new("s-1", cut);
    let report = silent().replay(&cut.unwrap(), ada()).await.unwrap();
    assert_eq!(report.replies, 2);

    // An agent with a tool of the name by which the model returned its answer asks in another way.
    let answer = ScriptStep::calls([ToolCall::function("f", "final_answer", OSLO)]);
    let sessions = scripted([answer]);
    let session = sessions.create("s-2", ada()).await.unwrap();
    session.turn("And?").typed_as(in_mode(OutputMode::Tool)).await.unwrap();
    let trajectory = sessions.trajectory("s-2").await.unwrap();
    let taken = agcore_tools::typed("final_answer", "Taken.", |_: agcore_tools::NoArguments| async {
        Ok("x")
    });
    let provider = ScriptedProvider::new([]);
    let bundle = builder(&provider).with_tool(taken).build().unwrap();
    let error = bundle.replay(&trajectory, ada()).await.unwrap_err();
    assert_eq!(error.kind(), ReplayErrorKind::Different, "{error}");
    assert!(provider.requests().is_empty());
}
