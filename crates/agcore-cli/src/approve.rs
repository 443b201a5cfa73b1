//! The approvers of tool calls: [`AskUser`] and [`AllowAll`]. Without an approver, calls that need approval are denied.

use agcore::tools::{Approval, ApprovalRequest, Approver};
use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

use crate::render::sanitized_line;

/// The maximum number of characters of the arguments in a question. Users must see what they approve.
const MAX_ARGUMENTS: usize = 2_000;

/// A question on its way to the user.
#[derive(Debug)]
pub(crate) struct Question {
    /// The request to approve.
    pub(crate) request: ApprovalRequest,
    reply: oneshot::Sender<Approval>,
}

impl Question {
    /// Creates a question and the receiver of its answer.
    pub(crate) fn new(request: ApprovalRequest) -> (Self, oneshot::Receiver<Approval>) {
        let (reply, answer) = oneshot::channel();
        (Self { request, reply }, answer)
    }

    /// Sends the answer. It is dropped if the turn was cancelled in the meantime.
    pub(crate) fn answer(self, approval: Approval) {
        let _ = self.reply.send(approval);
    }

    /// Returns whether the answer is no longer awaited.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }
}

/// Passes questions to the owner of the screen, so that they are asked one at a time and in order with the output.
#[derive(Debug)]
pub(crate) struct AskUser(mpsc::UnboundedSender<Question>);

impl AskUser {
    /// Creates an approver and the receiver of its questions.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Question>) {
        let (sender, questions) = mpsc::unbounded_channel();
        (Self(sender), questions)
    }
}

#[async_trait]
impl Approver for AskUser {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let (question, answer) = Question::new(request.clone());
        // If nothing receives questions any more, the question is dropped and its answer channel closes.
        let _ = self.0.send(question);
        answer
            .await
            .unwrap_or_else(|_| Approval::deny("The user cannot be asked."))
    }
}

/// Returns the text of a question: `Allow save_note {"text":"milk"}?`.
pub(crate) fn question(request: &ApprovalRequest) -> String {
    let arguments = request.arguments.as_value().to_string();
    let shown: String = arguments.chars().take(MAX_ARGUMENTS).collect();
    let hidden = match arguments.len() - shown.len() {
        0 => String::new(),
        bytes => format!(" … ({bytes} more bytes not shown)"),
    };
    format!("Allow {} {}{hidden}?", request.tool, sanitized_line(&shown))
}

/// Approves everything, as requested with `--yes`.
#[derive(Debug)]
pub(crate) struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        Approval::once()
    }
}
