//! [`LiveTurn`]: a turn with a person at the terminal, who may be asked and who may cancel.

use std::{future, io};

use agcore::{AgentSession, StreamEvent, agent::AgentTurn};
use futures_util::{StreamExt, future::BoxFuture};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::screen::Screen;
use crate::{
    approve::{Question, question},
    console::{Console, Silence, discard_typed},
    dialog::{Dialog, Settled},
    exit::Failure,
    grants::News,
    interrupt::Interrupts,
    policy::Policy,
    render::{Render, Terminal},
    turn::{self, beats},
};

const OFFER: &str = "  [y]es, for the [s]ession, [a]lways, [e]dit, [n]o: ";

/// What turns at a terminal need.
pub(super) struct LiveTurn {
    pub(super) console: Console,
    pub(super) screen: Screen,
    /// What the approver asks.
    pub(super) questions: UnboundedReceiver<Question>,
    pub(super) interrupts: Interrupts,
    /// Which tools may run.
    pub(super) policy: Policy,
}

/// The answer to the question that stands on the screen.
type Open = BoxFuture<'static, Result<Settled, Failure>>;

impl LiveTurn {
    /// Runs a turn and shows it. That it fails is shown, too, and no error.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(super) async fn run(&mut self, session: &AgentSession, message: String) -> Result<(), Failure> {
        let before = session.messages().await.len();
        let token = CancellationToken::new();
        let turn = turn::begin(session, message, token.clone());
        let dialog = Dialog {
            console: self.console.clone(),
            palette: self.screen.palette,
            offer: OFFER,
            tools: session.bundle().tools().snapshot(),
        };
        let _meaning = self.interrupts.cancel(&token);
        let silence = Silence::begin();
        let failed = self.show(turn, &dialog, &token).await;
        drop(silence);
        self.tell_grants()?;
        match failed {
            Ok(()) => Ok(()),
            Err(failure) if failure.is_output_closed() => Err(failure),
            Err(failure) => self.tell(&failure, session.messages().await.len() > before),
        }
    }

    /// Shows events and asks questions until the turn is over. While a question stands on the screen, events wait.
    async fn show(&mut self, mut turn: AgentTurn, dialog: &Dialog, token: &CancellationToken) -> Result<(), Failure> {
        let palette = self.screen.palette;
        let mut render = Terminal::new(io::stdout(), io::stdout(), palette).with_markdown(palette);
        let mut open: Option<Open> = None;
        let mut waiting: Vec<StreamEvent> = Vec::new();
        let mut beats = beats();
        loop {
            tokio::select! {
                // What happened before a question is shown before it.
                biased;
                event = turn.next() => match event {
                    None => break,
                    Some(event) if open.is_some() => waiting.push(event),
                    Some(event) => shown(render.event(&event))?,
                },
                Some(question) = self.questions.recv(), if open.is_none() => {
                    shown(render.hide())?;
                    open = Some(self.ask(question, dialog)?);
                }
                settled = settled(&mut open) => {
                    open = None;
                    match settled? {
                        Settled::Cancelled => token.cancel(),
                        Settled::Edited(call_id, arguments) => render.edited(call_id, arguments),
                        Settled::Answered => {}
                    }
                    waiting.drain(..).try_for_each(|event| shown(render.event(&event)))?;
                }
                _ = beats.tick(), if open.is_none() => shown(render.beat())?,
            }
        }
        if let Some(asked) = open {
            // The turn ended without the answer; the line that is being typed has to end, too.
            self.screen.note("\nThis is no longer asked; press Enter.")?;
            asked.await?;
        }
        waiting.drain(..).try_for_each(|event| shown(render.event(&event)))?;
        turn.finish().await?;
        Ok(())
    }

    fn ask(&self, asked: Question, dialog: &Dialog) -> Result<Open, Failure> {
        self.screen.question(&question(&asked.request))?;
        // What was typed before is no answer.
        discard_typed();
        Ok(Box::pin(dialog.clone().settle(asked)))
    }

    /// Says what became of what was allowed for good.
    fn tell_grants(&self) -> Result<(), Failure> {
        let news = self.policy.grants().news();
        news.iter().try_for_each(|news| match news {
            News::Kept(text) => self.screen.note(text),
            News::Lost(text) => self.screen.fault(text),
        })
    }

    fn tell(&self, failure: &Failure, something_kept: bool) -> Result<(), Failure> {
        let what = if failure.is_cancelled() {
            "cancelled".to_owned()
        } else {
            failure.to_string()
        };
        self.screen.fault(&what)?;
        self.screen.note(if something_kept {
            "What was done in this turn is remembered."
        } else {
            "This turn is forgotten; arrow up brings the message back."
        })
    }
}

fn shown(written: io::Result<()>) -> Result<(), Failure> {
    written.map_err(|error| Failure::output(&error))
}

/// The answer to the question that stands there; never, when none does.
async fn settled(open: &mut Option<Open>) -> Result<Settled, Failure> {
    match open {
        Some(asked) => asked.as_mut().await,
        None => future::pending().await,
    }
}
