//! [`TerminalApprover`]: asks the user at the terminal before a tool runs.

use std::sync::Arc;

use agcore::tools::{Approval, ApprovalRequest, Approver, ToolSnapshot};
use agcore_terminal::{interrupt::Interrupts, render::Color};
use agcore_workbench::program_tools::Previews;
use async_trait::async_trait;

use crate::{approve::Question, exit::Failure, question_terminal::QuestionTerminal};

/// Does not offer "session", which would be the same as "yes" for a single call.
const PROMPT: &str = "  [y]es, [a]lways, [e]dit, [n]o: ";

/// Asks for approval at the terminal.
pub(super) struct TerminalApprover {
    terminal: QuestionTerminal,
    tools: Arc<ToolSnapshot>,
    previews: Previews,
}

impl TerminalApprover {
    /// Creates an approver, or returns `None` if there is no terminal to ask at.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(super) fn new(
        tools: Arc<ToolSnapshot>,
        previews: Previews,
        interrupts: &Interrupts,
        color: Color,
    ) -> Result<Option<Self>, Failure> {
        let terminal = QuestionTerminal::open(interrupts, color)?;
        Ok(terminal.map(|terminal| Self {
            terminal,
            tools,
            previews,
        }))
    }

    async fn ask(&self, question: Question) -> Result<(), Failure> {
        let dialog = self.terminal.show(&question, "", PROMPT, Arc::clone(&self.tools))?;
        dialog.answer(question).await.map(drop)
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let (question, answer) = Question::new(request.clone(), &self.previews);
        // If the terminal fails, the question is dropped without an answer.
        let _ = self.ask(question).await;
        answer
            .await
            .unwrap_or_else(|_| Approval::deny("The user did not answer."))
    }
}
