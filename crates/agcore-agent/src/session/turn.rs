//! One turn of a session: checks, the agent's view of prompt and tools, the cycle.

use std::{pin::pin, sync::Arc};

use agcore_llm::{CompactionReport, Observer, TurnInput, TurnOptions};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    goal::Goal,
    shared::{Conversation, Shared},
    span,
};
use crate::error::AgentError;

pub(super) async fn run<G: Goal>(
    shared: Arc<Shared>,
    input: TurnInput,
    goal: G,
    own: CancellationToken,
    observer: Option<&Observer>,
) -> Result<G::Outcome, AgentError> {
    let mut occupied = shared.conversation.occupy(own).await?;
    let Conversation { cycle, agent } = &mut *occupied.value;
    shared.check_limits(&input, cycle)?;
    if matches!(input, TurnInput::Begin(_)) {
        *agent = shared.agent();
        shared.tools.begin_turn();
    }
    shared.apply(&**agent, cycle);
    let tools = shared.executor(agent, &occupied.token)?;
    let options = TurnOptions::under(occupied.token.clone())
        .with_tools(tools)
        .with_trace(Arc::clone(&shared.id));
    let span = span::of(&shared, &**agent);
    // Pinned here and lent: a turn's future is large, and would be moved into the span.
    let outcome = pin!(goal.run(cycle, input, options, observer));
    let outcome = outcome.instrument(span.clone()).await.map_err(AgentError::from);
    span::record(&span, outcome.as_ref().map(G::report));
    outcome
}

/// Makes the conversation shorter, between turns or while one is suspended.
pub(super) async fn compact(shared: Arc<Shared>, own: CancellationToken) -> Result<CompactionReport, AgentError> {
    let mut occupied = shared.conversation.occupy(own).await?;
    let Conversation { cycle, agent } = &mut *occupied.value;
    let tools = shared.executor(agent, &occupied.token)?;
    shared.apply(&**agent, cycle);
    let options = TurnOptions::under(occupied.token.clone())
        .with_tools(tools)
        .with_trace(Arc::clone(&shared.id));
    Ok(cycle.compact(options).await?)
}
