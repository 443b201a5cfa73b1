//! Who is asked about tools: [`AskPerson`], [`AllowAll`]; without a person nobody, which is a no.

use agcore::tools::{Approval, ApprovalRequest, Approver};
use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

use crate::render::harmless_line;

/// The longest arguments that are shown whole, in characters. A person has to see what they say yes to.
const ARGUMENTS: usize = 2_000;

/// A question on its way to the person.
#[derive(Debug)]
pub(crate) struct Question {
    /// What is asked.
    pub(crate) request: ApprovalRequest,
    answer: oneshot::Sender<Approval>,
}

impl Question {
    /// A question, and where its answer comes.
    pub(crate) fn new(request: ApprovalRequest) -> (Self, oneshot::Receiver<Approval>) {
        let (answer, answered) = oneshot::channel();
        (Self { request, answer }, answered)
    }

    /// Answers. Nobody may wait for it any more: the turn was cancelled.
    pub(crate) fn answer(self, approval: Approval) {
        let _ = self.answer.send(approval);
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_moot(&self) -> bool {
        self.answer.is_closed()
    }
}

/// Hands questions to whoever holds the screen, so that they are asked one at a time and in their place in the output.
#[derive(Debug)]
pub(crate) struct AskPerson(mpsc::UnboundedSender<Question>);

impl AskPerson {
    /// An approver, and its questions.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Question>) {
        let (sender, questions) = mpsc::unbounded_channel();
        (Self(sender), questions)
    }
}

#[async_trait]
impl Approver for AskPerson {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let (question, answered) = Question::new(request.clone());
        // Without a screen the question is dropped, and so is the way of its answer.
        let _ = self.0.send(question);
        answered
            .await
            .unwrap_or_else(|_| Approval::deny("The user cannot be asked."))
    }
}

/// What a person is asked.
pub(crate) fn question(request: &ApprovalRequest) -> String {
    let arguments = request.arguments.as_value().to_string();
    let shown: String = arguments.chars().take(ARGUMENTS).collect();
    let mut text = format!("? {} wants to run with {}", request.tool, harmless_line(&shown));
    if shown.len() < arguments.len() {
        text += &format!(" … and {} bytes more, not shown", arguments.len() - shown.len());
    }
    text
}

/// Says yes to everything, as the person asked for with `--yes`.
#[derive(Debug)]
pub(crate) struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        Approval::once()
    }
}
