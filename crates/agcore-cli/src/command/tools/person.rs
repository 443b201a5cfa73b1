//! [`Person`]: the one at the terminal, who is asked before a tool runs.

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
};

use agcore::tools::{Approval, ApprovalRequest, Approver, ToolSnapshot};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{
    approve::{Question, question},
    console::{Console, discard_typed},
    dialog::{Dialog, Settled},
    exit::Failure,
    render::Colour,
};

/// A yes for the session would end with the call.
const OFFER: &str = "  [y]es, [a]lways, [e]dit, [n]o: ";

/// Asks at the terminal.
pub(super) struct Person {
    dialog: Dialog,
    /// Cancelled by Ctrl-C at the question.
    token: CancellationToken,
}

impl Person {
    /// Whoever sits at the terminal; none where there is no terminal.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(super) fn at_terminal(
        tools: Arc<ToolSnapshot>,
        token: &CancellationToken,
        colour: Colour,
    ) -> Result<Option<Self>, Failure> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Ok(None);
        }
        let dialog = Dialog {
            console: Console::open()?,
            palette: colour.palette(&io::stderr()),
            offer: OFFER,
            tools,
        };
        Ok(Some(Self {
            dialog,
            token: token.clone(),
        }))
    }
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let style = self.dialog.palette.question;
        // Where the question cannot be shown, it is not answered either.
        let _ = writeln!(io::stderr(), "{style}{}{style:#}", question(request));
        discard_typed();
        let (asked, answered) = Question::new(request.clone());
        if let Ok(Settled::Cancelled) = self.dialog.clone().settle(asked).await {
            self.token.cancel();
        }
        answered
            .await
            .unwrap_or_else(|_| Approval::deny("The user did not answer."))
    }
}
