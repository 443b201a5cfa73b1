//! One turn without a person at the terminal: its events to a renderer, Ctrl-C to the turn.

use agcore::{
    AgentSession, Message,
    agent::AgentTurn,
    llm::{TurnInput, TurnOutcome, cycle::machine::Begin},
};
use futures_util::StreamExt;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::{
    exit::Failure,
    interrupt::Interrupts,
    render::{BEAT, Render},
};

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
    let mut beats = beats();
    loop {
        let shown = tokio::select! {
            biased;
            event = turn.next() => match event {
                Some(event) => render.event(&event),
                None => break,
            },
            _ = beats.tick() => render.beat(),
        };
        shown.map_err(|error| Failure::output(&error))?;
    }
    Ok(turn.finish().await?)
}

/// When a renderer shows that time has passed.
pub(crate) fn beats() -> Interval {
    let mut beats = tokio::time::interval(BEAT);
    // What was missed while nobody looked is not made up for.
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats
}

/// A turn under a token that cancels it.
pub(crate) fn begin(session: &AgentSession, message: impl Into<Message>, token: CancellationToken) -> AgentTurn {
    let message: Message = message.into();
    session.run_stream(TurnInput::from(Begin::new([message])), token)
}
