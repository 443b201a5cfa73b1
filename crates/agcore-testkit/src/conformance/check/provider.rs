//! The provider itself: what it says of itself, and whom it serves.

use agcore_chat::{ChatRequest, Message};
use futures_util::future::join;

use super::super::{
    answer::Answer,
    halt::{Halt, ensure, same},
    scenario::Scenario,
    scene::{Scene, Trial},
};

pub(super) async fn stable_info(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = trial.scene(&Scenario::answer(Answer::text("Known."))).await?;
    let before = scene.provider().info().clone();
    ensure(!before.name.is_empty(), || "it has no name".to_owned())?;
    scene.hear(scene.call()).await?.answer()?;
    same("info after a call", scene.provider().info(), &before)?;
    drop(scene.listen(scene.call()));
    same("info after a dropped call", scene.provider().info(), &before)
}

pub(super) async fn side_by_side(trial: Trial<'_>) -> Result<(), Halt> {
    let scene = trial.scene(&Scenario::Echo).await?;
    let [left, right] = ["left ", "right "].map(|word| word.repeat(200) + "end");
    let (first, second) = join(echo(&scene, &left), echo(&scene, &right)).await;
    same("answer to the first call", first?.as_str(), &left)?;
    same("answer to the second call", second?.as_str(), &right)
}

async fn echo(scene: &Scene, text: &str) -> Result<String, Halt> {
    let call = scene.call_of(ChatRequest::new([Message::user(text)]));
    Ok(scene.hear(call).await?.answer()?.text().into_owned())
}
