//! [`Asking`]: renders a single turn and asks the questions that come up in it.

use std::{collections::VecDeque, io, sync::Arc};

use agcore::{StreamEvent, chat::UsageTracker, llm::TurnOutcome, tools::ToolSnapshot};
use agcore_terminal::render::Render;
use agcore_workbench::policy::Policy;
use futures_util::FutureExt;
use tokio::task::JoinHandle;

use crate::command::chat::turn_runner::{PROMPT, Questions};
use crate::{
    approve::Question,
    dialog::{DialogOutcome, choices},
    exit::Failure,
    open_question::{OpenQuestion, OpenQuestions},
    question_terminal::QuestionTerminal,
    server_question::{Completer, ServerQuestion},
};

/// Asks a question once all events that precede it are on the screen. While it is there, later events are queued.
pub(in crate::command::chat) struct Asking {
    render: Box<dyn Render>,
    terminal: QuestionTerminal,
    questions: Questions,
    /// Those at which the steps of a task wait.
    steps: OpenQuestions,
    /// The tools, to validate edited arguments.
    tools: Arc<ToolSnapshot>,
    /// Stores "always" answers.
    policy: Policy,
    /// Asks the model for MCP servers.
    completer: Completer,
    pending: Option<JoinHandle<Result<DialogOutcome, Failure>>>,
    queued: VecDeque<StreamEvent>,
}

impl Asking {
    /// Wraps a renderer: questions are asked at this terminal.
    pub(in crate::command::chat) fn new(
        render: Box<dyn Render>,
        terminal: QuestionTerminal,
        (questions, steps): (Questions, OpenQuestions),
        tools: Arc<ToolSnapshot>,
        policy: Policy,
        completer: Completer,
    ) -> Self {
        Self {
            render,
            terminal,
            questions,
            steps,
            tools,
            policy,
            completer,
            pending: None,
            queued: VecDeque::new(),
        }
    }

    fn ask(&mut self, question: Question) -> io::Result<()> {
        self.render.hide()?;
        // A question that cannot be shown is dropped, which denies the call.
        let choices = choices(&question.request, self.policy.grants().place());
        let tools = Arc::clone(&self.tools);
        if let Ok(dialog) = self.terminal.show(&question, &choices, PROMPT, tools) {
            self.pending = Some(tokio::spawn(dialog.answer(question)));
        }
        Ok(())
    }

    fn ask_for_step(&mut self, question: OpenQuestion) -> io::Result<()> {
        self.render.hide()?;
        let dialog = self.terminal.open_dialog();
        self.pending = Some(tokio::spawn(dialog.answer(question)));
        Ok(())
    }

    fn ask_for_server(&mut self, question: ServerQuestion) -> io::Result<()> {
        self.render.hide()?;
        let dialog = self.terminal.server_dialog(self.completer.clone());
        self.pending = Some(tokio::spawn(dialog.answer(question)));
        Ok(())
    }

    /// Continues with the output once the question is answered. Returns whether one is still open.
    fn is_asking(&mut self) -> io::Result<bool> {
        let Some(pending) = &mut self.pending else {
            return Ok(false);
        };
        let Some(outcome) = pending.now_or_never() else {
            return Ok(true);
        };
        self.pending = None;
        if let Ok(Ok(DialogOutcome::Edited(call_id, arguments))) = outcome {
            self.render.set_edited(call_id, arguments);
        }
        self.render_queued()?;
        Ok(false)
    }

    fn render_queued(&mut self) -> io::Result<()> {
        self.queued.drain(..).try_for_each(|event| self.render.event(&event))
    }
}

impl Render for Asking {
    fn event(&mut self, event: &StreamEvent) -> io::Result<()> {
        if self.is_asking()? {
            self.queued.push_back(event.clone());
            return Ok(());
        }
        self.render.event(event)
    }

    /// Called when no event is ready, so everything before a question is on the screen.
    fn tick(&mut self) -> io::Result<()> {
        if self.is_asking()? {
            return Ok(());
        }
        if let Ok(question) = self.questions.calls.try_recv() {
            return self.ask(question);
        }
        if let Ok(question) = self.steps.try_recv() {
            return self.ask_for_step(question);
        }
        match self.questions.servers.try_recv() {
            Ok(question) if question.is_abandoned() => Ok(()),
            Ok(question) => self.ask_for_server(question),
            Err(_) => self.render.tick(),
        }
    }

    fn turn_cancelled(&mut self) {
        self.render.turn_cancelled();
    }

    fn turn_ended(&mut self, outcome: Option<&TurnOutcome>, usage: &UsageTracker) {
        // Fails only if the output was closed.
        let _ = self.render_queued();
        self.render.turn_ended(outcome, usage);
    }
}

impl Drop for Asking {
    /// Renders the queued events if the turn ended during a question.
    fn drop(&mut self) {
        // Fails only if the output was closed.
        let _ = self.render_queued();
    }
}
