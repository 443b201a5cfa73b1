//! [`OpenQuestion`]: a question at which a turn waits, about a call that an approver did not decide at once or that an earlier
//! process left behind.

use agcore::{
    agent::StepQuestions,
    chat::{Answer, Question, QuestionKind},
};
use agcore_terminal::{
    console::{Console, Line},
    interrupt::Interrupts,
    render::{Palette, sanitized_line, wrapped},
};
use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

use crate::{approve::call_text, dialog::DialogOutcome, exit::Failure};

/// Lists the possible answers.
pub(crate) const PROMPT: &str = "  [y]es [n]o: ";

/// The receiver of the questions of a task. If it is dropped, they are not answered.
pub(crate) type OpenQuestions = mpsc::UnboundedReceiver<OpenQuestion>;

/// A question on its way to the user.
#[derive(Debug)]
pub(crate) struct OpenQuestion {
    question: Question,
    reply: oneshot::Sender<Option<Answer>>,
}

/// Passes the questions of the steps of a task to the owner of the screen.
#[derive(Debug)]
pub(crate) struct AskForSteps(mpsc::UnboundedSender<OpenQuestion>);

impl AskForSteps {
    /// Creates the answers of a task and the receiver of its questions.
    pub(crate) fn new() -> (Self, OpenQuestions) {
        let (questions, receiver) = mpsc::unbounded_channel();
        (Self(questions), receiver)
    }
}

#[async_trait]
impl StepQuestions for AskForSteps {
    async fn answer(&self, question: &Question) -> Option<Answer> {
        let (reply, answer) = oneshot::channel();
        let question = question.clone();
        self.0.send(OpenQuestion { question, reply }).ok()?;
        answer.await.ok()?
    }
}

/// Reads answers to open questions.
pub(crate) struct OpenDialog {
    /// Where answers are typed.
    pub(crate) console: Console,
    /// The styles of the output.
    pub(crate) palette: Palette,
    /// Receives Ctrl-C, which cancels the turn.
    pub(crate) interrupts: Interrupts,
    /// Writes to the terminal.
    pub(crate) print: fn(&str) -> Result<(), Failure>,
}

impl OpenDialog {
    /// Asks until the answer is yes or no. Esc leaves the question open.
    ///
    /// # Errors
    /// When the terminal cannot be read or written.
    pub(crate) async fn answer(self, asked: OpenQuestion) -> Result<DialogOutcome, Failure> {
        let style = self.palette.question;
        (self.print)(&format!("{style}{}{style:#}\n", wrapped(&text(&asked.question), 2)))?;
        while !asked.reply.is_closed() {
            let answer = match self.console.read_line(PROMPT).await? {
                Line::Entered(line) => match parse(&line) {
                    Some(answer) => Some(answer),
                    None => continue,
                },
                Line::Interrupted => {
                    self.interrupts.press();
                    return Ok(DialogOutcome::Cancelled);
                }
                Line::Escaped | Line::Closed => None,
            };
            // Dropped if the task was cancelled in the meantime.
            let _ = asked.reply.send(answer);
            break;
        }
        Ok(DialogOutcome::Answered)
    }
}

/// Returns the text of a question.
pub(crate) fn text(question: &Question) -> String {
    let call = call_text(&question.tool, &question.arguments);
    match question.kind {
        QuestionKind::Approval => format!("Allow {call}?"),
        QuestionKind::Uncertain => {
            format!("{call} was running when the program ended, and may have taken effect. Run it again?")
        }
        _ => sanitized_line(&question.prompt),
    }
}

/// Parses an answer: yes, or no with a reason.
pub(crate) fn parse(line: &str) -> Option<Answer> {
    let (word, reason) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match (word.to_lowercase().as_str(), reason.trim()) {
        ("y" | "yes" | "1", "") => Some(Answer::approve()),
        ("n" | "no", "") => Some(Answer::deny("The user answered no.")),
        ("n" | "no", reason) => Some(Answer::deny(format!("The user answered no: {reason}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_yes_or_no() {
        for yes in ["y", "Yes", "1", "yes "] {
            assert_eq!(parse(yes), Some(Answer::approve()), "{yes}");
        }
        assert_eq!(parse("n"), Some(Answer::deny("The user answered no.")));
        assert_eq!(
            parse("no it is paid"),
            Some(Answer::deny("The user answered no: it is paid"))
        );
        for other in ["", "maybe", "yes please", "x"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
