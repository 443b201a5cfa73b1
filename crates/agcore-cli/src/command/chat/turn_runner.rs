//! [`TurnRunner`]: runs turns, during which the user at the terminal can answer questions and cancel.

use std::{future, io};

use agcore::{AgentSession, StreamEvent};
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::screen::Screen;
use crate::{
    approve::{Question, question},
    console::{Console, EchoOff, discard_input},
    dialog::{Dialog, DialogOutcome},
    exit::Failure,
    grants::GrantUpdate,
    interrupt::Interrupts,
    policy::Policy,
    process::print,
    render::{Render, Terminal},
    turn::{self, EventStream, ticks},
};

/// The possible answers.
pub(super) const PROMPT: &str = "  [y]es, with any arguments for this [s]ession or [a]lways, [e]dit, [n]o: ";

/// Runs turns at a terminal.
pub(super) struct TurnRunner {
    pub(super) console: Console,
    pub(super) screen: Screen,
    /// Receives the approver's questions.
    pub(super) questions: UnboundedReceiver<Question>,
    pub(super) interrupts: Interrupts,
    /// Decides which tools may run.
    pub(super) policy: Policy,
    /// The base URL to suggest if the server does not know the path.
    pub(super) better_url: Option<String>,
}

/// The pending answer to the question on the screen.
type PendingAnswer = BoxFuture<'static, Result<DialogOutcome, Failure>>;

impl TurnRunner {
    /// Runs and renders a turn. A failure of the turn is printed and is not an error.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) async fn run(&mut self, session: &AgentSession, message: String) -> Result<(), Failure> {
        let before = session.messages().await.len();
        let token = CancellationToken::new();
        let turn = turn::start(session, message, &token);
        let dialog = Dialog {
            console: self.console.clone(),
            palette: self.screen.palette,
            prompt: PROMPT,
            tools: session.bundle().tools().snapshot(),
            interrupts: self.interrupts.clone(),
            print,
        };
        let _guard = self.interrupts.cancel(&token);
        let echo_off = EchoOff::new();
        let result = self.render(turn, &dialog).await;
        drop(echo_off);
        self.report_grants()?;
        match result {
            Ok(()) => Ok(()),
            Err(failure) if failure.is_output_closed() => Err(failure),
            Err(failure) => {
                let failure = failure.or_base_url(self.better_url.as_deref());
                self.report(&failure, session.messages().await.len() > before)
            }
        }
    }

    /// Renders events and asks questions until the turn ends. While a question is on the screen, events are queued.
    async fn render(&mut self, mut turn: EventStream, dialog: &Dialog) -> Result<(), Failure> {
        let palette = self.screen.palette;
        let mut render = Terminal::new(io::stdout(), io::stdout(), palette).with_markdown(palette);
        let mut pending: Option<PendingAnswer> = None;
        let mut queued: Vec<StreamEvent> = Vec::new();
        let mut ticks = ticks();
        loop {
            tokio::select! {
                // Events that precede a question must be shown before it.
                biased;
                event = turn.next() => match event {
                    None => break,
                    Some(event) if pending.is_some() => queued.push(event),
                    Some(event) => check_output(render.event(&event))?,
                },
                Some(question) = self.questions.recv(), if pending.is_none() => {
                    check_output(render.hide())?;
                    pending = Some(self.ask(question, dialog)?);
                }
                outcome = answered(&mut pending) => {
                    pending = None;
                    match outcome? {
                                                DialogOutcome::Edited(call_id, arguments) => render.set_edited(call_id, arguments),
                        DialogOutcome::Answered | DialogOutcome::Cancelled => {}
                    }
                    queued.drain(..).try_for_each(|event| check_output(render.event(&event)))?;
                }
                _ = ticks.tick(), if pending.is_none() => check_output(render.tick())?,
            }
        }
        if let Some(answer) = pending {
            // The turn ended without the answer, but the thread that reads it cannot be stopped.
            self.screen.note("\nThis question no longer applies; press Enter.")?;
            answer.await?;
        }
        queued
            .drain(..)
            .try_for_each(|event| check_output(render.event(&event)))?;
        turn.finish().await?;
        Ok(())
    }

    fn ask(&self, asked: Question, dialog: &Dialog) -> Result<PendingAnswer, Failure> {
        self.screen.question(&question(&asked.request))?;
        // Input typed before the question appeared does not answer it.
        discard_input();
        Ok(Box::pin(dialog.clone().answer(asked)))
    }

    /// Reports whether "always" answers were saved.
    fn report_grants(&self) -> Result<(), Failure> {
        let updates = self.policy.grants().take_updates();
        updates.iter().try_for_each(|update| match update {
            GrantUpdate::Saved(text) => self.screen.note(text),
            GrantUpdate::Failed(text) => self.screen.error(text),
        })
    }

    fn report(&self, failure: &Failure, is_turn_kept: bool) -> Result<(), Failure> {
        let message = if failure.is_cancelled() {
            "cancelled".to_owned()
        } else {
            failure.to_string()
        };
        self.screen.error(&message)?;
        self.screen.note(if is_turn_kept {
            "The completed part of this turn is kept in the conversation."
        } else {
            "Turn discarded. Press ↑ to edit and resend."
        })
    }
}

fn check_output(written: io::Result<()>) -> Result<(), Failure> {
    written.map_err(|error| Failure::output(&error))
}

/// Waits for the answer to the question on the screen, forever if there is none.
async fn answered(pending: &mut Option<PendingAnswer>) -> Result<DialogOutcome, Failure> {
    match pending {
        Some(answer) => answer.as_mut().await,
        None => future::pending().await,
    }
}
