//! The caller abandons a call, by cancelling its token or by dropping its stream.

use agcore_llm::{LlmError, LlmErrorKind};
use futures_util::future::{Either, join, select};
use tokio_util::sync::CancellationToken;

use crate::conformance::{
    answer::Answer,
    check_context::{CheckContext, Setup},
    check_error::{CheckError, ensure, ensure_equal},
    fixture::Observation,
    scenario::Scenario,
};

pub(super) async fn cancelled_beforehand(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = context.set_up(&answer()).await?;
    let token = CancellationToken::new();
    token.cancel();
    expect_cancelled(&setup.ask(setup.call().with_token(token)).await?.into_error()?)?;
    setup.ensure_no_requests()
}

pub(super) async fn cancelled_waiting(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = context.set_up(&Scenario::Stall).await?;
    let token = CancellationToken::new();
    let asking = setup.ask(setup.call().with_token(token.clone()));
    let cancelling = async {
        let observation = setup.fixture.wait_for_requests(1).await;
        token.cancel();
        expect_observed(observation)
    };
    let (reply, cancelled) = join(asking, cancelling).await;
    cancelled?;
    expect_cancelled(&reply?.into_error()?)?;
    setup.fixture.wait_for_disconnect(0).await;
    Ok(())
}

pub(super) async fn cancelled_midway(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = context.set_up(&stalled()).await?;
    let token = CancellationToken::new();
    let mut reply = setup.open(setup.call().with_token(token.clone()));
    if context.mode.is_streamed() {
        reply.read_first_text().await?;
        token.cancel();
        expect_cancelled(&reply.read_to_end().await?.into_error()?)?;
    } else {
        let cancelling = async {
            let observation = setup.fixture.wait_for_requests(1).await;
            token.cancel();
            expect_observed(observation)
        };
        let (reply, cancelled) = join(reply.read_to_end(), cancelling).await;
        cancelled?;
        expect_cancelled(&reply?.into_error()?)?;
    }
    setup.fixture.wait_for_disconnect(0).await;
    Ok(())
}

pub(super) async fn dropped_midway(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = context.set_up(&stalled()).await?;
    let mut reply = setup.open(setup.call());
    if context.mode.is_streamed() {
        reply.read_first_text().await?;
        drop(reply);
    } else {
        drop_during_stall(&setup).await?;
    }
    match setup.fixture.wait_for_disconnect(0).await {
        Observation::Observed => Ok(()),
        Observation::Unsupported => Err(CheckError::skip("the server cannot observe disconnects")),
    }
}

pub(super) async fn never_polled(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = context.set_up(&answer()).await?;
    drop(setup.open(setup.call()));
    // A second call gives a request that was sent by mistake enough time to arrive.
    setup.ask(setup.call()).await?.into_response()?;
    ensure_equal("number of requests", &setup.requests()?.len(), &1)
}

/// Drops a call for a whole reply while the server stalls.
async fn drop_during_stall(setup: &Setup) -> Result<(), CheckError> {
    let asking = Box::pin(setup.ask(setup.call()));
    match select(asking, setup.fixture.wait_for_requests(1)).await {
        Either::Left((reply, _)) => {
            let error = reply?.into_error()?;
            Err(CheckError::Fail(format!(
                "the call ended on its own: {}",
                error.chain()
            )))
        }
        Either::Right((observation, _)) => expect_observed(observation),
    }
}

fn answer() -> Scenario {
    Scenario::answer(Answer::text("This is never read."))
}

fn stalled() -> Scenario {
    Scenario::StallAfter {
        text: "A beginning".to_owned(),
    }
}

fn expect_cancelled(error: &LlmError) -> Result<(), CheckError> {
    ensure_equal("kind", &error.kind(), &LlmErrorKind::Cancelled)?;
    ensure(!error.is_retryable(), || {
        "the error of a cancelled call is retryable".to_owned()
    })
}

fn expect_observed(arrival: Observation) -> Result<(), CheckError> {
    match arrival {
        Observation::Observed => Ok(()),
        Observation::Unsupported => Err(CheckError::skip("the server cannot observe the arrival of requests")),
    }
}
