//! One turn on the command line: events to a renderer, Ctrl-C to the turn.

use agcore::{
    AgentSession, Message,
    llm::{TurnInput, TurnOutcome, cycle::machine::Begin},
};
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::{exit::Failure, render::Render};

/// Runs a turn and shows it. Ctrl-C cancels the turn and not the program.
///
/// # Errors
/// What the turn failed with; a closed output.
pub(crate) async fn run(
    session: &AgentSession,
    message: impl Into<Message>,
    token: CancellationToken,
    render: &mut dyn Render,
) -> Result<TurnOutcome, Failure> {
    let message: Message = message.into();
    let input = TurnInput::from(Begin::new([message]));
    let mut turn = session.run_stream(input, token.clone());
    let interrupts = cancel_on_interrupt(token);
    tokio::pin!(interrupts);
    loop {
        let event = tokio::select! {
            event = turn.next() => event,
            () = &mut interrupts => continue,
        };
        let Some(event) = event else { break };
        render.event(&event).map_err(|error| Failure::turn(format!("the output is closed: {error}")))?;
    }
    Ok(turn.finish().await?)
}

/// Cancels at Ctrl-C. Never ends, so that it can stand beside a turn.
async fn cancel_on_interrupt(token: CancellationToken) {
    while tokio::signal::ctrl_c().await.is_ok() {
        token.cancel();
    }
    std::future::pending().await
}
