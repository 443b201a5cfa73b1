//! Failures are reported as errors that state their cause and contain the partial answer.

use std::time::Duration;

use agcore_chat::{Fault, FaultKind};
use agcore_llm::{LlmError, LlmErrorKind};

use crate::conformance::{
    check_context::CheckContext,
    check_error::{CheckError, ensure, ensure_equal},
    scenario::Scenario,
};

const PARTIAL: &str = "This part was sent";

pub(super) async fn refused(context: CheckContext<'_>, kind: FaultKind) -> Result<(), CheckError> {
    let fault = fault(kind);
    let error = context.ask(&Scenario::Refuse(fault.clone())).await?.into_error()?;
    ensure_equal("kind", &error.kind().fault_kind(), &fault.kind)?;
    ensure_equal("retryable", &error.is_retryable(), &fault.retryable)?;
    ensure_equal("retry hint", &error.retry_after(), &fault.retry_after)?;
    ensure_equal("status", &error.status(), &fault.status)?;
    ensure_equal("request id", &error.request_id(), &fault.request_id.as_deref())?;
    ensure(error.partial().is_none(), || {
        "the error contains a partial answer, but the server sent none".to_owned()
    })
}

pub(super) async fn in_stream(context: CheckContext<'_>) -> Result<(), CheckError> {
    let fault = Fault::new(FaultKind::RateLimit, "Rate limit reached.")
        .with_retryable(true)
        .with_status(Some(429));
    let scenario = Scenario::FailAfter {
        text: PARTIAL.to_owned(),
        fault,
    };
    let error = context.ask(&scenario).await?.into_error()?;
    ensure_equal("kind", &error.kind(), &LlmErrorKind::RateLimit)?;
    ensure(error.is_retryable(), || "the error is not retryable".to_owned())?;
    expect_partial(context, &error)
}

pub(super) async fn cut(context: CheckContext<'_>) -> Result<(), CheckError> {
    let error = context
        .ask(&Scenario::CutAfter {
            text: PARTIAL.to_owned(),
        })
        .await?
        .into_error()?;
    expect_broken(&error)?;
    expect_partial(context, &error)
}

pub(super) async fn hung_up(context: CheckContext<'_>) -> Result<(), CheckError> {
    expect_broken(&context.ask(&Scenario::HangUp).await?.into_error()?)
}

pub(super) async fn garbled(context: CheckContext<'_>) -> Result<(), CheckError> {
    let error = context
        .ask(&Scenario::Garble {
            text: PARTIAL.to_owned(),
        })
        .await?
        .into_error()?;
    ensure_equal("kind", &error.kind(), &LlmErrorKind::Malformed)?;
    expect_partial(context, &error)
}

/// Expects a transport error, which is retryable.
fn expect_broken(error: &LlmError) -> Result<(), CheckError> {
    ensure(
        matches!(error.kind(), LlmErrorKind::Truncated | LlmErrorKind::Connect),
        || format!("kind: found {:?}, expected Truncated or Connect", error.kind()),
    )?;
    ensure(error.is_retryable(), || "the error is not retryable".to_owned())
}

/// Expects the text that a stream sent before the error. A whole answer has no content until it is complete.
fn expect_partial(context: CheckContext<'_>, error: &LlmError) -> Result<(), CheckError> {
    if !context.mode.is_streamed() {
        return Ok(());
    }
    let partial = error.partial().map(|partial| partial.text().into_owned());
    ensure_equal("partial answer", &partial.as_deref(), &Some(PARTIAL))
}

/// Returns an error of this kind with its usual status, and with a retry hint where servers send one.
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
    Fault::new(kind, "The request failed.")
        .with_retryable(retryable)
        .with_retry_after(hint)
        .with_status(Some(status))
        .with_request_id(Some("req-conformance".to_owned()))
}
