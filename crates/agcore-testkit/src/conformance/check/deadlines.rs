//! A call ends when its time is up.

use std::time::Duration;

use agcore_llm::{LlmError, LlmErrorKind, TimeoutStage};

use super::super::{
    answer::Answer,
    halt::{Halt, same},
    scenario::Scenario,
    scene::Trial,
};

/// Short, as it passes in full; nothing depends on what is done within.
const SHORT: Duration = Duration::from_millis(60);

pub(super) async fn no_time_left(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = trial.scene(&Scenario::answer(Answer::text("Too late."))).await?;
    expect_overdue(&scene.hear(scene.call().with_deadline(Duration::ZERO)).await?.error()?)?;
    scene.ensure_silence()
}

pub(super) async fn waiting(trial: Trial<'_>) -> Result<(), Halt> {
    ends_in_time(trial, &Scenario::Stall).await
}

pub(super) async fn midway(trial: Trial<'_>) -> Result<(), Halt> {
    let text = "A beginning".to_owned();
    ends_in_time(trial, &Scenario::StallAfter { text }).await
}

/// The server would never end; that the call does is the deadline's doing.
async fn ends_in_time(trial: Trial<'_>, scenario: &Scenario) -> Result<(), Halt> {
    let scene = trial.scene(scenario).await?;
    expect_overdue(&scene.hear(scene.call().with_deadline(SHORT)).await?.error()?)
}

fn expect_overdue(error: &LlmError) -> Result<(), Halt> {
    same("kind", error.kind(), &LlmErrorKind::Timeout(TimeoutStage::Total))
}
