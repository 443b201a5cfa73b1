//! Runs a turn and renders its events; Ctrl-C cancels it.

use agcore::{
    AgentError, AgentSession, Message,
    llm::{TurnOutcome, TurnStream},
};
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::{
    exit::Failure,
    interrupt::Interrupts,
    render::{Render, TICK},
};

/// The events of a turn of a session.
pub(crate) type EventStream = TurnStream<'static, Result<TurnOutcome, AgentError>>;

/// Runs a turn and renders it. The first Ctrl-C cancels the turn, the second exits the program.
///
/// # Errors
/// When the turn fails or the output is closed.
pub(crate) async fn run(
    session: &AgentSession,
    message: impl Into<Message>,
    interrupts: &Interrupts,
    render: &mut dyn Render,
) -> Result<TurnOutcome, Failure> {
    let token = CancellationToken::new();
    let _guard = interrupts.cancel(&token);
    let mut turn = start(session, message, &token);
    let mut ticks = ticks();
    loop {
        let rendered = tokio::select! {
            biased;
            event = turn.next() => match event {
                Some(event) => render.event(&event),
                None => break,
            },
            _ = ticks.tick() => render.tick(),
        };
        rendered.map_err(|error| Failure::output(&error))?;
    }
    Ok(turn.finish().await?)
}

/// Returns the interval at which renderers update their progress display.
pub(crate) fn ticks() -> Interval {
    let mut ticks = tokio::time::interval(TICK);
    // Progress is a snapshot: missed ticks need no catching up.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Starts a turn that the token cancels. All turns of the program start here.
pub(crate) fn start(session: &AgentSession, message: impl Into<Message>, token: &CancellationToken) -> EventStream {
    let message: Message = message.into();
    session.turn(message).with_token(token.clone()).stream()
}
