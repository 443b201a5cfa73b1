//! [`TerminalApprover`]: asks the user at the terminal before a tool runs.

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
};

use agcore::tools::{Approval, ApprovalRequest, Approver, ToolSnapshot};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{
    approve::{Question, question},
    console::{Console, discard_input},
    dialog::{Dialog, DialogOutcome},
    exit::Failure,
    render::Color,
};

/// Does not offer "session", which would be the same as "yes" for a single call.
const PROMPT: &str = "  [y]es, [a]lways with any arguments, [e]dit, [n]o: ";

/// Asks for approval at the terminal.
pub(super) struct TerminalApprover {
    dialog: Dialog,
    /// Cancelled by Ctrl-C at the question.
    token: CancellationToken,
}

impl TerminalApprover {
    /// Creates an approver, or returns `None` if standard input or output is not a terminal.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(super) fn new(
        tools: Arc<ToolSnapshot>,
        token: &CancellationToken,
        color: Color,
    ) -> Result<Option<Self>, Failure> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Ok(None);
        }
        let dialog = Dialog {
            console: Console::open()?,
            palette: color.palette(&io::stderr()),
            prompt: PROMPT,
            tools,
        };
        Ok(Some(Self {
            dialog,
            token: token.clone(),
        }))
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let style = self.dialog.palette.question;
        // If the question cannot be shown, reading the answer fails as well.
        let _ = writeln!(io::stderr(), "{style}{}{style:#}", question(request));
        discard_input();
        let (question, answer) = Question::new(request.clone());
        if let Ok(DialogOutcome::Cancelled) = self.dialog.clone().answer(question).await {
            self.token.cancel();
        }
        answer
            .await
            .unwrap_or_else(|_| Approval::deny("The user did not answer."))
    }
}
