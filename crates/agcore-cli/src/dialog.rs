//! [`Dialog`]: a question about a tool and its answer, at the terminal.

use std::sync::Arc;

use agcore::{
    chat::ToolCall,
    tools::{Approval, Arguments, ToolSnapshot},
};

use crate::{
    approve::Question,
    console::{Console, Line},
    exit::Failure,
    output::print,
    render::{Palette, wrapped},
};

/// How the answers are offered, and the call's arguments changed.
#[derive(Clone)]
pub(crate) struct Dialog {
    /// Where the answers are typed.
    pub(crate) console: Console,
    /// How it looks.
    pub(crate) palette: Palette,
    /// What is offered: `[y]es, [n]o: `.
    pub(crate) offer: &'static str,
    /// The tools, which check arguments.
    pub(crate) tools: Arc<ToolSnapshot>,
}

/// What became of a question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It was answered, or nobody waits for the answer any more.
    Answered,
    /// It was answered with other arguments: the call's id, and these.
    Edited(String, String),
    /// The person wants it all to end.
    Cancelled,
}

/// What a person says to a question.
#[derive(Debug, PartialEq)]
enum Answer {
    Says(Approval),
    Edit,
    None,
}

impl Dialog {
    /// Reads answers until one is; the question itself stands on the screen already.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(crate) async fn settle(self, question: Question) -> Result<Settled, Failure> {
        while !question.is_moot() {
            let line = self.console.read_line(self.offer).await?;
            let approval = match line {
                Line::Said(word) => match answer(&word) {
                    Answer::Says(approval) => approval,
                    Answer::None => continue,
                    Answer::Edit => match self.edit(&question).await? {
                        Some(arguments) => {
                            let call_id = question.request.call_id.to_string();
                            let edited = Settled::Edited(call_id, arguments.as_value().to_string());
                            question.answer(Approval::edited(arguments));
                            return Ok(edited);
                        }
                        None => continue,
                    },
                },
                Line::Thrown => {
                    question.answer(Approval::deny("The user cancelled the turn."));
                    return Ok(Settled::Cancelled);
                }
                Line::Over => Approval::deny("The user did not answer."),
            };
            question.answer(approval);
            break;
        }
        Ok(Settled::Answered)
    }

    /// Has the arguments changed until they fit; nothing when the person gives up.
    async fn edit(&self, question: &Question) -> Result<Option<Arguments>, Failure> {
        let request = &question.request;
        let mut text = request.arguments.as_value().to_string();
        while !question.is_moot() {
            match self.console.edit_line("  arguments: ", &text).await? {
                Line::Said(edited) => text = edited,
                Line::Thrown | Line::Over => return Ok(None),
            }
            match checked(&self.tools, &request.tool, &text) {
                Ok(arguments) => return Ok(Some(arguments)),
                Err(why) => {
                    let bad = self.palette.bad;
                    print(&format!("{bad}✗ {}{bad:#}\n", wrapped(&why, 2)))?;
                }
            }
        }
        Ok(None)
    }
}

fn answer(said: &str) -> Answer {
    match said.to_lowercase().as_str() {
        "y" | "yes" => Answer::Says(Approval::once()),
        "s" | "session" => Answer::Says(Approval::session()),
        "a" | "always" => Answer::Says(Approval::always()),
        "n" | "no" => Answer::Says(Approval::deny("The user said no.")),
        "e" | "edit" => Answer::Edit,
        _ => Answer::None,
    }
}

/// Arguments that fit a tool.
fn checked(tools: &ToolSnapshot, tool: &str, text: &str) -> Result<Arguments, String> {
    let call = ToolCall::function("edited", tool, text.trim());
    let arguments = Arguments::of(&call).map_err(|error| error.to_string())?;
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
    fn edited_arguments_have_to_fit() {
        let tools = sample_tools::registry().unwrap().snapshot();
        let check = |text: &str| checked(&tools, "save_note", text);
        assert_eq!(check(" {\"text\": \"a\"}\n").unwrap().as_value()["text"], "a");
        assert!(check("{\"text\": \"a\"").unwrap_err().contains("not valid JSON"));
        assert!(check("[1]").is_err());
        assert!(check("{\"text\": 1}").is_err() && check("{}").is_err());
    }

    #[test]
    fn answers_are_words_or_letters() {
        assert_eq!(answer("Y"), Answer::Says(Approval::once()));
        assert_eq!(answer("edit"), Answer::Edit);
        assert_eq!(answer("maybe"), Answer::None);
    }
}
