//! [`LiveTurn`]: a turn with a person at the terminal, who may be asked and who may cancel.

use std::{future, io};

use agcore::{AgentSession, StreamEvent, agent::AgentTurn, tools::Approval};
use futures_util::{StreamExt, future::BoxFuture};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::screen::Screen;
use crate::{
    approve::{self, Question},
    console::{Console, Line, Silence, discard_typed},
    exit::Failure,
    grants::News,
    interrupt::Interrupts,
    policy::Policy,
    render::{Render, Terminal},
    turn,
};

const ANSWERS: &str = "  [y]es, for the [s]ession, [a]lways, [n]o: ";

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

/// A question that stands on the screen.
struct Open {
    question: Question,
    reading: BoxFuture<'static, Result<Line, Failure>>,
}

impl LiveTurn {
    /// Runs a turn and shows it. That it fails is shown, too, and no error.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(super) async fn run(&mut self, session: &AgentSession, message: String) -> Result<(), Failure> {
        let before = session.messages().await.len();
        let token = CancellationToken::new();
        let turn = turn::begin(session, message, token.clone());
        let _meaning = self.interrupts.cancel(&token);
        let silence = Silence::begin();
        let failed = self.show(turn, &token).await;
        drop(silence);
        self.tell_grants()?;
        match failed {
            Ok(()) => Ok(()),
            Err(failure) if failure.is_output_closed() => Err(failure),
            Err(failure) => self.tell(&failure, session.messages().await.len() > before),
        }
    }

    /// Shows events and asks questions until the turn is over. While a question stands on the screen, events wait.
    async fn show(&mut self, mut turn: AgentTurn, token: &CancellationToken) -> Result<(), Failure> {
        let mut render = Terminal::new(io::stdout(), io::stdout(), self.screen.palette);
        let mut open: Option<Open> = None;
        let mut waiting: Vec<StreamEvent> = Vec::new();
        loop {
            tokio::select! {
                // What happened before a question is shown before it.
                biased;
                event = turn.next() => match event {
                    None => break,
                    Some(event) if open.is_some() => waiting.push(event),
                    Some(event) => shown(&mut render, &event)?,
                },
                Some(question) = self.questions.recv(), if open.is_none() => open = Some(self.ask(question)?),
                line = answer(&mut open) => {
                    open = match open {
                        Some(asked) => self.answered(asked, line?, token),
                        None => None,
                    };
                    if open.is_none() {
                        waiting.drain(..).try_for_each(|event| shown(&mut render, &event))?;
                    }
                }
            }
        }
        if let Some(asked) = open {
            // The turn ended without the answer; the line that is being typed has to end, too.
            self.screen.note("\nThis is no longer asked; press Enter.")?;
            asked.reading.await?;
        }
        waiting.drain(..).try_for_each(|event| shown(&mut render, &event))?;
        turn.finish().await?;
        Ok(())
    }

    fn ask(&self, question: Question) -> Result<Open, Failure> {
        self.screen.question(&question.text)?;
        // What was typed before is no answer.
        discard_typed();
        Ok(self.open(question))
    }

    fn open(&self, question: Question) -> Open {
        let console = self.console.clone();
        Open {
            question,
            reading: Box::pin(async move { console.read_line(ANSWERS).await }),
        }
    }

    /// Gives the answer, or asks again when it is none.
    fn answered(&self, asked: Open, line: Line, token: &CancellationToken) -> Option<Open> {
        let approval = match line {
            Line::Said(word) => match approve::answer(&word) {
                Some(approval) => approval,
                None => return Some(self.open(asked.question)),
            },
            Line::Thrown => {
                token.cancel();
                Approval::deny("The user cancelled the turn.")
            }
            Line::Over => Approval::deny("The user did not answer."),
        };
        asked.question.answer(approval);
        None
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

fn shown(render: &mut impl Render, event: &StreamEvent) -> Result<(), Failure> {
    render.event(event).map_err(|error| Failure::output(&error))
}

/// The line with which a question is answered; never, when none stands there.
async fn answer(open: &mut Option<Open>) -> Result<Line, Failure> {
    match open {
        Some(asked) => asked.reading.as_mut().await,
        None => future::pending().await,
    }
}
