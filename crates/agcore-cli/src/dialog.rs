//! [`Dialog`]: reads the answer to an approval question at the terminal.

use std::sync::Arc;

use agcore::{
    chat::ToolCall,
    tools::{Approval, Arguments, ToolSnapshot},
};

use crate::{
    approve::Question,
    console::{Console, Line},
    exit::Failure,
    interrupt::Interrupts,
    render::{Palette, hanging, wrapped},
};

/// Reads answers to approval questions, and edited arguments.
#[derive(Clone)]
pub(crate) struct Dialog {
    /// Where answers are typed.
    pub(crate) console: Console,
    /// The styles of the output.
    pub(crate) palette: Palette,
    /// The prompt that lists the possible answers: `[y]es, [n]o: `.
    pub(crate) prompt: &'static str,
    /// The tools, to validate edited arguments.
    pub(crate) tools: Arc<ToolSnapshot>,
    /// Receives Ctrl-C, which cancels the turn.
    pub(crate) interrupts: Interrupts,
    /// Writes to the terminal.
    pub(crate) print: fn(&str) -> Result<(), Failure>,
}

/// The result of a dialog.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DialogOutcome {
    /// The question was answered, or its answer is no longer awaited.
    Answered,
    /// The question was answered with edited arguments: the call's id and the arguments.
    Edited(String, String),
    /// The user pressed Ctrl-C.
    Cancelled,
}

/// A parsed answer.
#[derive(Debug, PartialEq)]
enum Answer {
    Approval(Box<Approval>),
    Edit,
    Unrecognized,
}

impl Dialog {
    /// Reads input until it is a valid answer. The question itself must already be on the screen.
    ///
    /// # Errors
    /// When the terminal cannot be read or written.
    pub(crate) async fn answer(self, question: Question) -> Result<DialogOutcome, Failure> {
        while !question.is_abandoned() {
            let line = self.console.read_line(&(wrapped(self.prompt, 2) + " ")).await?;
            let approval = match line {
                Line::Entered(word) => match parse(&word) {
                    // In the prompt, these answers are about any arguments.
                    Answer::Approval(approval) => approval.with_grant(question.request.tool_grant.clone()),
                    Answer::Unrecognized => continue,
                    Answer::Edit => match self.edit(&question).await? {
                        Some(arguments) => {
                            let call_id = question.request.call_id.to_string();
                            let edited = DialogOutcome::Edited(call_id, arguments.as_value().to_string());
                            question.answer(Approval::edited(arguments));
                            return Ok(edited);
                        }
                        None => continue,
                    },
                },
                Line::Interrupted => {
                    // The turn is cancelled before the question is dropped, so that the call counts as not run.
                    self.interrupts.press();
                    return Ok(DialogOutcome::Cancelled);
                }
                Line::Closed => Approval::deny("The user did not answer."),
            };
            question.answer(approval);
            break;
        }
        Ok(DialogOutcome::Answered)
    }

    /// Lets the user edit the arguments until they are valid. Returns `None` if the user gives up.
    async fn edit(&self, question: &Question) -> Result<Option<Arguments>, Failure> {
        let request = &question.request;
        let mut text = request.arguments.as_value().to_string();
        while !question.is_abandoned() {
            match self.console.edit_line("  arguments: ", &text).await? {
                Line::Entered(edited) => text = edited,
                Line::Interrupted | Line::Closed => return Ok(None),
            }
            match validate(&self.tools, &request.tool, &text) {
                Ok(arguments) => return Ok(Some(arguments)),
                Err(error) => {
                    let style = self.palette.error;
                    (self.print)(&format!("{style}{}{style:#}\n", hanging("✗ ", &error)))?;
                }
            }
        }
        Ok(None)
    }
}

fn parse(word: &str) -> Answer {
    match word.to_lowercase().as_str() {
        "y" | "yes" => Answer::Approval(Box::new(Approval::once())),
        "s" | "session" => Answer::Approval(Box::new(Approval::session())),
        "a" | "always" => Answer::Approval(Box::new(Approval::always())),
        "n" | "no" => Answer::Approval(Box::new(Approval::deny("The user answered no."))),
        "e" | "edit" => Answer::Edit,
        _ => Answer::Unrecognized,
    }
}

/// Parses arguments and checks them against the tool's schema.
fn validate(tools: &ToolSnapshot, tool: &str, text: &str) -> Result<Arguments, String> {
    let call = ToolCall::function("edited", tool, text.trim());
    let arguments = Arguments::from_call(&call).map_err(|error| error.to_string())?;
    match tools.get(tool) {
        Some(tool) => match tool.tool().check_arguments(&arguments) {
            Ok(()) => Ok(arguments),
            Err(error) => Err(error.to_string()),
        },
        None => Ok(arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_tools;

    #[test]
    fn edited_arguments_must_be_valid() {
        let tools = sample_tools::registry().unwrap().snapshot();
        let check = |text: &str| validate(&tools, "save_note", text);
        assert_eq!(check(" {\"text\": \"a\"}\n").unwrap().as_value()["text"], "a");
        assert!(check("{\"text\": \"a\"").unwrap_err().contains("not valid JSON"));
        assert!(check("[1]").is_err());
        assert!(check("{\"text\": 1}").is_err() && check("{}").is_err());
    }

    #[test]
    fn answers_are_words_or_letters() {
        assert_eq!(parse("Y"), Answer::Approval(Box::new(Approval::once())));
        assert_eq!(parse("edit"), Answer::Edit);
        assert_eq!(parse("maybe"), Answer::Unrecognized);
    }
}
