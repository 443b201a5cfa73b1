//! The provider itself: its description and concurrent calls.

use agcore_chat::{ChatRequest, Message};
use futures_util::future::join;

use crate::conformance::{
    answer::Answer,
    check_context::{CheckContext, Setup},
    check_error::{CheckError, ensure, ensure_equal},
    scenario::Scenario,
};

pub(super) async fn stable_info(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = context.set_up(&Scenario::answer(Answer::text("Known."))).await?;
    let before = setup.provider().info().clone();
    ensure(!before.name.is_empty(), || "the provider has no name".to_owned())?;
    setup.ask(setup.call()).await?.into_response()?;
    ensure_equal("info after a call", setup.provider().info(), &before)?;
    drop(setup.open(setup.call()));
    ensure_equal("info after a dropped call", setup.provider().info(), &before)
}

pub(super) async fn concurrent_calls(context: CheckContext<'_>) -> Result<(), CheckError> {
    let setup = context.set_up(&Scenario::Echo).await?;
    let [left, right] = ["left ", "right "].map(|word| word.repeat(200) + "end");
    let (first, second) = join(echo(&setup, &left), echo(&setup, &right)).await;
    ensure_equal("answer to the first call", first?.as_str(), &left)?;
    ensure_equal("answer to the second call", second?.as_str(), &right)
}

async fn echo(setup: &Setup, text: &str) -> Result<String, CheckError> {
    let call = setup.call_with(ChatRequest::new([Message::user(text)]));
    Ok(setup.ask(call).await?.into_response()?.text().into_owned())
}
