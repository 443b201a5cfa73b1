//! What goes wrong is an error that says what, and keeps what had arrived.

use std::time::Duration;

use agcore_chat::{Fault, FaultKind};
use agcore_llm::{LlmError, LlmErrorKind};

use super::super::{
    halt::{Halt, ensure, same},
    scenario::Scenario,
    scene::Trial,
};

const SAID: &str = "This much was said";

pub(super) async fn refused(trial: Trial<'_>, kind: FaultKind) -> Result<(), Halt> {
    let fault = fault(kind);
    let error = trial.hear(&Scenario::Refuse(fault.clone())).await?.error()?;
    same("kind", &error.kind().fault_kind(), &fault.kind)?;
    same("retryable", &error.is_retryable(), &fault.retryable)?;
    same("hint", &error.retry_after(), &fault.retry_after)?;
    same("status", &error.status(), &fault.status)?;
    same("request id", &error.request_id(), &fault.request_id.as_deref())?;
    ensure(error.partial().is_none(), || {
        "a partial answer, although nothing was said".to_owned()
    })
}

pub(super) async fn in_stream(trial: Trial<'_>) -> Result<(), Halt> {
    let fault = Fault::new(FaultKind::RateLimit, "Rate limit reached.")
        .with_retryable(true)
        .with_status(Some(429));
    let scenario = Scenario::FailAfter {
        text: SAID.to_owned(),
        fault,
    };
    let error = trial.hear(&scenario).await?.error()?;
    same("kind", error.kind(), &LlmErrorKind::RateLimit)?;
    ensure(error.is_retryable(), || "it is not retryable".to_owned())?;
    expect_partial(trial, &error)
}

pub(super) async fn cut(trial: Trial<'_>) -> Result<(), Halt> {
    let error = trial
        .hear(&Scenario::CutAfter { text: SAID.to_owned() })
        .await?
        .error()?;
    expect_broken(&error)?;
    expect_partial(trial, &error)
}

pub(super) async fn hung_up(trial: Trial<'_>) -> Result<(), Halt> {
    expect_broken(&trial.hear(&Scenario::HangUp).await?.error()?)
}

pub(super) async fn garbled(trial: Trial<'_>) -> Result<(), Halt> {
    let error = trial.hear(&Scenario::Garble { text: SAID.to_owned() }).await?.error()?;
    same("kind", error.kind(), &LlmErrorKind::Malformed)?;
    expect_partial(trial, &error)
}

/// The road failed, so another attempt may do.
fn expect_broken(error: &LlmError) -> Result<(), Halt> {
    ensure(
        matches!(error.kind(), LlmErrorKind::Truncated | LlmErrorKind::Connect),
        || format!("kind: found {:?}, expected Truncated or Connect", error.kind()),
    )?;
    ensure(error.is_retryable(), || "it is not retryable".to_owned())
}

/// What a stream had said; a whole answer says nothing before it is whole.
fn expect_partial(trial: Trial<'_>, error: &LlmError) -> Result<(), Halt> {
    if !trial.mode.is_streamed() {
        return Ok(());
    }
    let partial = error.partial().map(|partial| partial.text().into_owned());
    same("partial answer", &partial.as_deref(), &Some(SAID))
}

/// The refusal of a kind, with the usual status, and a hint where servers give one.
fn fault(kind: FaultKind) -> Fault {
    let (status, retryable, hint) = match kind {
        FaultKind::Auth => (401, false, None),
        FaultKind::Permission => (403, false, None),
        FaultKind::NotFound => (404, false, None),
        FaultKind::InvalidToolCall => (400, true, None),
        FaultKind::RateLimit => (429, true, Some(Duration::from_secs(2))),
        FaultKind::Quota => (429, false, None),
        FaultKind::Overloaded => (503, true, Some(Duration::from_secs(3))),
        FaultKind::Server => (500, true, None),
        _ => (400, false, None),
    };
    Fault::new(kind, "The server says no.")
        .with_retryable(retryable)
        .with_retry_after(hint)
        .with_status(Some(status))
        .with_request_id(Some("req-conformance".to_owned()))
}
