//! The caller leaves: by the token, or by dropping the stream.

use agcore_llm::{LlmError, LlmErrorKind};
use futures_util::future::{Either, join, select};
use tokio_util::sync::CancellationToken;

use super::super::{
    answer::Answer,
    halt::{Halt, ensure, same},
    scenario::Scenario,
    scene::{Scene, Trial},
    stage::Sight,
};

pub(super) async fn cancelled_beforehand(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = trial.scene(&answer()).await?;
    let token = CancellationToken::new();
    token.cancel();
    expect_cancelled(&scene.hear(scene.call().with_token(token)).await?.error()?)?;
    scene.ensure_silence()
}

pub(super) async fn cancelled_waiting(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = trial.scene(&Scenario::Stall).await?;
    let token = CancellationToken::new();
    let hearing = scene.hear(scene.call().with_token(token.clone()));
    let cancelling = async {
        let sight = scene.stage.arrived(1).await;
        token.cancel();
        expect_sight(sight)
    };
    let (heard, cancelled) = join(hearing, cancelling).await;
    cancelled?;
    expect_cancelled(&heard?.error()?)?;
    scene.stage.abandoned(0).await;
    Ok(())
}

pub(super) async fn cancelled_midway(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = trial.scene(&begun()).await?;
    let token = CancellationToken::new();
    let mut reply = scene.listen(scene.call().with_token(token.clone()));
    if trial.mode.is_streamed() {
        reply.first_text().await?;
        token.cancel();
        expect_cancelled(&reply.rest().await?.error()?)?;
    } else {
        let cancelling = async {
            let sight = scene.stage.arrived(1).await;
            token.cancel();
            expect_sight(sight)
        };
        let (heard, cancelled) = join(reply.rest(), cancelling).await;
        cancelled?;
        expect_cancelled(&heard?.error()?)?;
    }
    scene.stage.abandoned(0).await;
    Ok(())
}

pub(super) async fn dropped_midway(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = trial.scene(&begun()).await?;
    let mut reply = scene.listen(scene.call());
    if trial.mode.is_streamed() {
        reply.first_text().await?;
        drop(reply);
    } else {
        leave_when_asked(&scene).await?;
    }
    match scene.stage.abandoned(0).await {
        Sight::Seen => Ok(()),
        Sight::Blind => Err(Halt::skip("the server cannot tell whether the client left")),
    }
}

pub(super) async fn never_polled(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = trial.scene(&answer()).await?;
    drop(scene.listen(scene.call()));
    // Another call makes sure that a request sent behind our back had time to arrive.
    scene.hear(scene.call()).await?.answer()?;
    same("number of requests", &scene.requests()?.len(), &1)
}

/// Drops a whole reply while the server holds it back.
async fn leave_when_asked(scene: &Scene) -> Result<(), Halt> {
    let hearing = Box::pin(scene.hear(scene.call()));
    match select(hearing, scene.stage.arrived(1)).await {
        Either::Left((heard, _)) => {
            let error = heard?.error()?;
            Err(Halt::Fail(format!("the call ended by itself: {}", error.chain())))
        }
        Either::Right((sight, _)) => expect_sight(sight),
    }
}

fn answer() -> Scenario {
    Scenario::answer(Answer::text("Never to be heard."))
}

fn begun() -> Scenario {
    Scenario::StallAfter {
        text: "A beginning".to_owned(),
    }
}

fn expect_cancelled(error: &LlmError) -> Result<(), Halt> {
    same("kind", error.kind(), &LlmErrorKind::Cancelled)?;
    ensure(!error.is_retryable(), || "a cancelled call is retryable".to_owned())
}

fn expect_sight(sight: Sight) -> Result<(), Halt> {
    match sight {
        Sight::Seen => Ok(()),
        Sight::Blind => Err(Halt::skip("the server cannot tell when a request has arrived")),
    }
}
