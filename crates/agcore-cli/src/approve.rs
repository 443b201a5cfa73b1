//! [`AskUser`]: the approver that asks at the terminal. Without an approver, calls that need approval are denied.

use agcore::{
    chat::text::visible,
    tools::{Approval, ApprovalRequest, Approver},
};
use agcore_terminal::render::{
    Palette, SHELL, difference, sanitized_line, shown_block, shown_line, shown_lines, wrapped,
};
use agcore_workbench::program_tools::{Preview, Previews};
use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// The number of bytes of arguments up to which a question is one line.
const ONE_LINE: usize = 200;

/// A question on its way to the user.
#[derive(Debug)]
pub(crate) struct Question {
    /// The request to approve.
    pub(crate) request: ApprovalRequest,
    /// The effect of the call on a file, if it has one.
    preview: Option<Preview>,
    reply: oneshot::Sender<Approval>,
}

impl Question {
    /// Creates a question and the receiver of its answer.
    pub(crate) fn new(request: ApprovalRequest, previews: &Previews) -> (Self, oneshot::Receiver<Approval>) {
        let (reply, answer) = oneshot::channel();
        let preview = previews.preview(&request);
        let question = Self {
            request,
            preview,
            reply,
        };
        (question, answer)
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
pub(crate) struct AskUser {
    questions: mpsc::UnboundedSender<Question>,
    previews: Previews,
}

impl AskUser {
    /// Creates an approver and the receiver of its questions.
    pub(crate) fn new(previews: Previews) -> (Self, mpsc::UnboundedReceiver<Question>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let asking = Self {
            questions: sender,
            previews,
        };
        (asking, receiver)
    }
}

#[async_trait]
impl Approver for AskUser {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let (question, answer) = Question::new(request.clone(), &self.previews);
        // If nothing receives questions any more, the question is dropped and its answer channel closes.
        let _ = self.questions.send(question);
        answer
            .await
            .unwrap_or_else(|_| Approval::deny("The user cannot be asked."))
    }
}

/// Returns the text of a question: `Allow save_note {"text":"milk"}?`. It always shows all of the arguments, long ones on
/// several lines. Characters that are invisible or change the direction of writing are escaped.
pub(crate) fn question(request: &ApprovalRequest) -> String {
    let call = call_text(&request.tool, request.arguments.as_value());
    format!("Allow {}{call}?", asker(request))
}

/// Returns the sub-agent that asks, as before the name of a call in its card: `reviewer › `.
fn asker(request: &ApprovalRequest) -> String {
    let agent = request.agent.as_ref().map(|agent| format!("{} › ", visible(agent)));
    agent.unwrap_or_default()
}

/// Returns the text of a call with all of its arguments: `save_note {"text":"milk"}`.
pub(crate) fn call_text(tool: &str, input: &Value) -> String {
    match command(tool, input).filter(|command| command.contains('\n')) {
        Some(command) => {
            let lines = shown_lines(command).collect::<Vec<_>>().join("\n    ");
            format!("{}{}\n    {lines}", visible(tool), others(input))
        }
        None => format!("{} {}", visible(tool), arguments(input)),
    }
}

/// Returns the command line of a call of the shell.
fn command<'a>(tool: &str, input: &'a Value) -> Option<&'a str> {
    input["command"].as_str().filter(|_| tool == SHELL)
}

/// Returns the arguments beside the command line.
fn others(input: &Value) -> String {
    let mut input = input.clone();
    if let Some(members) = input.as_object_mut() {
        members.remove("command");
        if members.is_empty() {
            return String::new();
        }
    }
    format!(" {}", arguments(&input))
}

fn arguments(value: &Value) -> String {
    let line = value.to_string();
    if line.len() <= ONE_LINE {
        return shown_line(&line);
    }
    // Line breaks inside of values are escaped by JSON, so those that are left only separate members.
    shown_lines(&format!("{value:#}")).collect::<Vec<_>>().join("\n")
}

impl Question {
    /// Returns the question for the terminal. A change of a file is shown in place of the arguments, completely.
    pub(crate) fn text(&self) -> String {
        let (asker, tool) = (asker(&self.request), visible(&self.request.tool));
        match &self.preview {
            Some(Preview::Change(_)) => format!("Allow {asker}{tool} to make this change?"),
            Some(Preview::Command { .. }) | None if self.command().is_some() => {
                let others = others(self.request.arguments.as_value());
                format!("Allow {asker}{tool} to run this command{others}?")
            }
            Some(Preview::Failure(_) | Preview::Command { .. }) | None => question(&self.request),
        }
    }

    /// Returns the lines of the change in the colors of a difference, or why there is none. For calls that change no file, the text
    /// is empty.
    pub(crate) fn shown_preview(&self, palette: Palette) -> String {
        let preview = match &self.preview {
            Some(Preview::Change(change)) => change,
            Some(Preview::Failure(reason)) => {
                let style = palette.warning;
                let text = format!("  This call would fail: {}", visible(&sanitized_line(reason)));
                return format!("{style}{}{style:#}\n", wrapped(&text, 4));
            }
            Some(Preview::Command { notice, confined }) => {
                let style = if *confined { palette.dim } else { palette.warning };
                let text = format!("  {}", visible(&sanitized_line(notice)));
                return format!("{}{style}{}{style:#}\n", self.shown_command(), wrapped(&text, 4));
            }
            None => return self.shown_command(),
        };
        difference(preview, palette)
    }

    /// Returns the command line of a call of the shell, with its line breaks.
    fn shown_command(&self) -> String {
        self.command()
            .map(|command| shown_block(command, 4))
            .unwrap_or_default()
    }

    fn command(&self) -> Option<&str> {
        command(&self.request.tool, self.request.arguments.as_value())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_hides_nothing() {
        assert_eq!(arguments(&json!({"text": "milk"})), r#"{"text":"milk"}"#);
        let hidden = "x".repeat(5000);
        let text = arguments(&json!({"body": hidden, "to": "eve@example.org"}));
        assert!(
            text.contains(&hidden) && text.contains("\n  \"to\": \"eve@example.org\"\n"),
            "{text}"
        );
        let deceptive = arguments(&json!({"path": "a\u{202e}b\u{1b}[2J\nc", "body": hidden}));
        assert!(deceptive.contains(r#""a\u{202e}b\u001b[2J\nc""#), "{deceptive}");
        // Characters that only look like spaces, and letters that only look Latin.
        let deceptive = arguments(&json!({"command": "cаt\u{a0}/tmp\u{2800}"}));
        assert_eq!(deceptive, r#"{"command":"c\u{430}t\u{a0}/tmp\u{2800}"}"#);
    }
}
