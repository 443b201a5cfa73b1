//! [`TurnRunner`]: runs turns, during which the user at the terminal can answer questions and cancel.

pub(super) mod turn_keys;

use std::{
    future,
    io::{self, Stdout},
};

use agcore::{AgentSession, StreamEvent};
use agcore_settings::ModelLimits;
use agcore_terminal::{
    console::{Console, EchoOff},
    interrupt::Interrupts,
    render::{Render, Terminal, sanitized_line},
    window::Window,
};
use agcore_workbench::{
    grants::GrantUpdate, policy::Policy, policy::mode_switch::ModeSwitch, program_tools::ToolFolder,
};
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::{screen::Screen, turn_log::TurnLog, turn_runner::turn_keys::TurnKeys};
use crate::{
    approve::Question,
    dialog::{Dialog, DialogOutcome, choices},
    exit::Failure,
    server_question::{Completer, ServerDialog, ServerQuestion, ServerQuestions},
    stdout::print,
    turn::{self, EventStream, Input, ticks},
};

/// The possible answers.
pub(super) const PROMPT: &str = "[y]es [s]ession [a]lways [e]dit [n]o: ";

/// Runs turns at a terminal.
pub(super) struct TurnRunner {
    pub(super) console: Console,
    pub(super) screen: Screen,
    /// The folder of the tools, whose changes are shown.
    pub(super) folder: ToolFolder,
    /// Receives the questions of the approver and of MCP servers.
    pub(super) questions: Questions,
    pub(super) interrupts: Interrupts,
    /// Decides which tools may run.
    pub(super) modes: ModeSwitch,
    /// The base URL to suggest if the server does not know the path.
    pub(super) better_url: Option<String>,
    /// The settings to suggest if an answer takes too long.
    pub(super) limits: ModelLimits,
    /// Parts of the latest turn, which commands show.
    pub(super) log: TurnLog,
    /// The tools whose question was cancelled.
    pub(super) unanswered: Vec<String>,
    /// Shows what the program does, and notifies the user.
    pub(super) window: Window,
}

/// The questions to the user that come up in a turn.
#[derive(Debug)]
pub(super) struct Questions {
    /// Those of the approver of calls.
    pub(super) calls: UnboundedReceiver<Question>,
    /// Those of MCP servers.
    pub(super) servers: ServerQuestions,
}

/// A question to the user.
#[derive(Debug)]
enum Asked {
    Call(Box<Question>),
    Server(ServerQuestion),
}

impl Asked {
    /// Returns the name of the tool whose call is asked about.
    fn tool(&self) -> Option<String> {
        match self {
            Self::Call(question) => Some(sanitized_line(&question.request.tool)),
            Self::Server(_) => None,
        }
    }
}

impl Questions {
    /// Waits for a question. Returns `None` if no more can come. Cancel safe.
    async fn next(&mut self) -> Option<Asked> {
        loop {
            tokio::select! {
                Some(question) = self.calls.recv() => return Some(Asked::Call(Box::new(question))),
                Some(question) = self.servers.recv() => match question.is_abandoned() {
                    true => {}
                    false => return Some(Asked::Server(question)),
                },
                else => return None,
            }
        }
    }
}

/// The end of a turn.
#[derive(Debug)]
pub(super) enum TurnEnd {
    Finished,
    /// It waits for answers to its questions.
    Suspended,
    Failed(Failure),
}

/// The pending answer to the question on the screen.
type PendingAnswer = BoxFuture<'static, Result<DialogOutcome, Failure>>;

impl TurnRunner {
    /// Runs and renders a turn. A failure of the turn is not an error.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) async fn run(&mut self, session: &AgentSession, input: Input) -> Result<TurnEnd, Failure> {
        self.log.start();
        self.unanswered.clear();
        let mode = self.modes.current().get();
        let token = CancellationToken::new();
        let turn = turn::start(session, input, &token);
        let dialog = Dialog {
            console: self.console.clone(),
            palette: self.screen.palette,
            prompt: PROMPT,
            tools: session.bundle().tools().snapshot(),
            interrupts: self.interrupts.clone(),
            print,
        };
        let server_dialog = ServerDialog {
            console: self.console.clone(),
            palette: self.screen.palette,
            interrupts: self.interrupts.clone(),
            print,
            completer: Completer::of(session),
        };
        let _guard = self.interrupts.cancel(&token);
        self.window.work();
        let result = self.render(turn, (&dialog, &server_dialog), &token).await;
        self.window.rest(result.as_ref().is_err_and(Failure::is_cancelled));
        if result.is_err() {
            // What was typed may not make sense without the answer.
            self.console.put_back_typed();
        }
        self.report_grants()?;
        if mode != self.modes.current().get() {
            self.screen.note(&self.modes.note())?;
        }
        if let Some(costs) = &mut self.log.costs {
            let calls = self.log.turn.calls;
            let [_, turn, _] = costs.texts(calls, calls);
            self.screen.note(&format!("Cost: {turn}"))?;
            if let Some(unpriced) = costs.take_unpriced() {
                self.screen.note(&unpriced)?;
            }
        }
        match result {
            Err(failure) if !failure.is_output_closed() => {
                let failure = failure.or_base_url(self.better_url.as_deref());
                Ok(TurnEnd::Failed(failure.or_limit(|stage| self.limits.advice(stage))))
            }
            result => result,
        }
    }

    /// Returns what decides which tools may run.
    pub(super) fn policy(&self) -> Policy {
        self.modes.policy()
    }

    /// Takes the names of the tools whose question was cancelled, so that they did not run.
    pub(super) fn take_unanswered(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unanswered)
    }

    /// Renders events and asks questions until the turn ends. While a question is on the screen, events are queued.
    async fn render(
        &mut self,
        mut turn: EventStream,
        dialogs: (&Dialog, &ServerDialog),
        token: &CancellationToken,
    ) -> Result<TurnEnd, Failure> {
        let mut render = self.terminal();
        let mut pending: Option<PendingAnswer> = None;
        let mut queued: Vec<StreamEvent> = Vec::new();
        let mut asked = None;
        let mut ticks = ticks();
        let mut keys = TurnKeys::new(&self.console, &self.modes);
        let echo_off = EchoOff::enter();
        loop {
            tokio::select! {
                // Events that precede a question must be shown before it.
                biased;
                event = turn.next() => match event {
                    None => break,
                    Some(event) if pending.is_some() => queued.push(event),
                    Some(event) => self.show(&mut render, &event)?,
                },
                Some(question) = self.questions.next(), if pending.is_none() => {
                    check_output(render.hide())?;
                    keys.clear_for_question().await;
                    asked = question.tool();
                    pending = Some(self.ask(question, dialogs)?);
                    self.window.wait();
                }
                outcome = answered(&mut pending) => {
                    pending = None;
                    self.window.work();
                    self.note_answer(outcome?, asked.take(), &mut render);
                    keys.resume();
                    queued.drain(..).try_for_each(|event| self.show(&mut render, &event))?;
                }
                _ = ticks.tick(), if pending.is_none() => {
                    echo_off.keep();
                    if keys.read() {
                        token.cancel();
                    }
                    render.set_footer(keys.footer());
                    check_output(render.tick())?;
                }
            }
        }
        keys.finish().await;
        render.set_footer(Vec::new());
        if let Some(answer) = pending {
            // The turn ended without the answer, but the thread that reads it cannot be stopped.
            self.screen.note("\nThis question no longer applies; press Enter.")?;
            answer.await?;
        }
        queued.drain(..).try_for_each(|event| self.show(&mut render, &event))?;
        let outcome = turn.finish().await?;
        Ok(match outcome.questions() {
            [] => TurnEnd::Finished,
            _ => TurnEnd::Suspended,
        })
    }

    /// Returns the renderer of a turn.
    fn terminal(&self) -> Terminal<Stdout, Stdout> {
        let palette = self.screen.palette;
        Terminal::new(io::stdout(), io::stdout(), palette)
            .with_markdown(palette)
            .with_changes(Box::new(self.folder.unasked_changes()))
            .with_folded_reasoning()
    }

    /// Notes the answer to a question about a call of this tool.
    fn note_answer(&mut self, outcome: DialogOutcome, tool: Option<String>, render: &mut dyn Render) {
        match outcome {
            DialogOutcome::Cancelled => self.unanswered.extend(tool),
            DialogOutcome::Edited(call_id, arguments) => render.set_edited(call_id, arguments),
            DialogOutcome::Answered => {}
        }
    }

    /// Shows an event and remembers what commands may show later.
    fn show(&mut self, render: &mut dyn Render, event: &StreamEvent) -> Result<(), Failure> {
        self.log.record(event);
        check_output(render.event(event))
    }

    fn ask(&self, asked: Asked, (dialog, server_dialog): (&Dialog, &ServerDialog)) -> Result<PendingAnswer, Failure> {
        let asked = match asked {
            Asked::Call(question) => question,
            Asked::Server(question) => return Ok(Box::pin(server_dialog.clone().answer(question))),
        };
        let (text, preview) = (asked.text(), asked.shown_preview(self.screen.palette));
        let choices = choices(&asked.request, self.policy().grants().place());
        self.screen.print("\n")?;
        self.screen.question(&text)?;
        self.screen.print(&preview)?;
        self.screen.print(&choices)?;
        Ok(Box::pin(dialog.clone().answer(*asked)))
    }

    /// Reports whether "always" answers were saved.
    fn report_grants(&self) -> Result<(), Failure> {
        let updates = self.policy().grants().take_updates();
        updates.iter().try_for_each(|update| match update {
            GrantUpdate::Saved(text) => self.screen.note(text),
            GrantUpdate::Failed(text) => self.screen.error(text),
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
