//! [`Person`]: the one at the terminal, who is asked before a tool runs.

use std::io::{self, IsTerminal, Write};

use agcore::tools::{Approval, ApprovalRequest, Approver};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{
    approve::{self, question},
    console::{Console, Line, discard_typed},
    exit::Failure,
    render::Palette,
};

/// A yes for the session would end with the call.
const ANSWERS: &str = "  [y]es, [a]lways, [n]o: ";

/// Asks at the terminal.
#[derive(Debug)]
pub(super) struct Person {
    console: Console,
    /// Cancelled by Ctrl-C at the question.
    token: CancellationToken,
}

impl Person {
    /// Whoever sits at the terminal; none where there is no terminal.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(super) fn at_terminal(token: &CancellationToken) -> Result<Option<Self>, Failure> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Ok(None);
        }
        Ok(Some(Self {
            console: Console::open()?,
            token: token.clone(),
        }))
    }
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let style = Palette::of(&io::stderr()).question;
        // Where the question cannot be shown, it is not answered either.
        let _ = writeln!(io::stderr(), "{style}{}{style:#}", question(request));
        discard_typed();
        loop {
            match self.console.read_line(ANSWERS).await {
                Ok(Line::Said(word)) => match approve::answer(&word) {
                    Some(approval) => return approval,
                    None => continue,
                },
                Ok(Line::Thrown) => self.token.cancel(),
                Ok(Line::Over) | Err(_) => {}
            }
            return Approval::deny("The user did not answer.");
        }
    }
}
