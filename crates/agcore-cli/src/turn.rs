//! One turn without a person at the terminal: its events to a renderer, Ctrl-C to the turn.

use agcore::{
    AgentSession, Message,
    agent::AgentTurn,
    llm::{TurnInput, TurnOutcome, cycle::machine::Begin},
};
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::{exit::Failure, interrupt::Interrupts, render::Render};

/// Runs a turn and shows it. The first Ctrl-C cancels the turn, a second one ends the program.
///
/// # Errors
/// What the turn failed with; a closed output.
pub(crate) async fn run(
    session: &AgentSession,
    message: impl Into<Message>,
    interrupts: &Interrupts,
    render: &mut dyn Render,
) -> Result<TurnOutcome, Failure> {
    let token = CancellationToken::new();
    let _meaning = interrupts.cancel(&token);
    let mut turn = begin(session, message, token);
    while let Some(event) = turn.next().await {
        render.event(&event).map_err(|error| Failure::output(&error))?;
    }
    Ok(turn.finish().await?)
}

/// A turn under a token that cancels it.
pub(crate) fn begin(session: &AgentSession, message: impl Into<Message>, token: CancellationToken) -> AgentTurn {
    let message: Message = message.into();
    session.run_stream(TurnInput::from(Begin::new([message])), token)
}
