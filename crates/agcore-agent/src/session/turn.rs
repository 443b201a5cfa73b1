//! One turn of a session: checks, the agent's view of prompt and tools, the cycle.

use std::sync::Arc;

use agcore_llm::{Observer, TurnInput, TurnOptions, TurnOutcome};
use tokio_util::sync::CancellationToken;

use super::shared::Shared;
use crate::error::AgentError;

pub(super) async fn run(
    shared: Arc<Shared>,
    input: TurnInput,
    token: CancellationToken,
    observer: Option<&Observer>,
) -> Result<TurnOutcome, AgentError> {
    let mut occupied = shared.cycle.occupy(&token).await?;
    shared.check_limits(&input, &occupied.value)?;
    let agent = shared.agent();
    shared.apply(&*agent, &mut occupied.value);
    if matches!(input, TurnInput::Begin(_)) {
        shared.tools.begin_turn();
    }
    let tools = shared.executor(&agent, &occupied.token)?;
    let options = TurnOptions::new()
        .with_token(occupied.token.clone())
        .with_tools(tools)
        .with_trace(Arc::clone(&shared.id));
    let outcome = match observer {
        Some(observer) => occupied.value.run_observed(input, options, observer).await,
        None => occupied.value.run(input, options).await,
    };
    Ok(outcome?)
}
