//! A call ends when its deadline expires.

use std::time::Duration;

use agcore_llm::{LlmError, LlmErrorKind, TimeoutStage};

use crate::conformance::{
    answer::Answer,
    check_context::CheckContext,
    check_error::{CheckError, ensure_equal},
    scenario::Scenario,
};

/// Short, because each check waits for all of it. No check depends on what happens before it expires.
const DEADLINE: Duration = Duration::from_millis(60);

pub(super) async fn no_time_left(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = context.set_up(&Scenario::answer(Answer::text("Too late."))).await?;
    expect_timeout(
        &setup
            .ask(setup.call().with_deadline(Duration::ZERO))
            .await?
            .into_error()?,
    )?;
    setup.ensure_no_requests()
}

pub(super) async fn waiting(context: CheckContext<'_>) -> Result<(), CheckError> {
    ends_in_time(context, &Scenario::Stall).await
}

pub(super) async fn midway(context: CheckContext<'_>) -> Result<(), CheckError> {
    let text = "A beginning".to_owned();
    ends_in_time(context, &Scenario::StallAfter { text }).await
}

/// Verifies that the deadline ends a call that the server would never end.
async fn ends_in_time(context: CheckContext<'_>, scenario: &Scenario) -> Result<(), CheckError> {
    let setup = context.set_up(scenario).await?;
    expect_timeout(&setup.ask(setup.call().with_deadline(DEADLINE)).await?.into_error()?)
}

fn expect_timeout(error: &LlmError) -> Result<(), CheckError> {
    ensure_equal("kind", &error.kind(), &LlmErrorKind::Timeout(TimeoutStage::Total))
}
