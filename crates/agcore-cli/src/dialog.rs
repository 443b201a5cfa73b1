//! [`Dialog`]: reads the answer to an approval question at the terminal.

use std::{fmt, sync::Arc};

use agcore::{
    chat::{ApprovalScope, ToolCall},
    tools::{Approval, ApprovalRequest, Arguments, Grant, Permission, ToolSnapshot},
};
use agcore_terminal::{
    console::{Console, Line},
    interrupt::Interrupts,
    render::{Palette, hanging, sanitized_line, wrapped, wrapped_with_paths},
};
use agcore_workbench::grants::{prefix_grant, rule};

use crate::{approve::Question, exit::Failure};

/// Shown after an answer that is not understood.
const ANSWERS: &str = "Type y, s, a, e or n, or the number of an answer. Esc means no, Ctrl-C cancels the turn.";

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
    /// Everything that begins in the same way is always allowed.
    Prefix,
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
                Line::Entered(word) => match parse(&word).for_request(&question.request) {
                    Answer::Approval(approval) => approval.with_grant(kept_grant(&question.request).clone()),
                    Answer::Prefix => match prefix_grant(&question.request) {
                        Some((grant, _)) => Approval::always().with_grant(grant),
                        None => continue,
                    },
                    Answer::Unrecognized => {
                        let dim = self.palette.dim;
                        (self.print)(&format!("{dim}{}{dim:#}\n", wrapped(&format!("  {ANSWERS}"), 2)))?;
                        continue;
                    }
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
                Line::Escaped => Approval::deny(NO),
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
                Line::Interrupted | Line::Escaped | Line::Closed => return Ok(None),
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

impl Answer {
    /// Returns the answer if it is one that the question offers.
    fn for_request(self, request: &ApprovalRequest) -> Self {
        match &self {
            Self::Approval(approval) if request.each_time && is_remembered(approval) => Self::Unrecognized,
            Self::Prefix if prefix_grant(request).is_none() => Self::Unrecognized,
            _ => self,
        }
    }
}

/// The reason for the model if the user gives none.
const NO: &str = "The user answered no.";

/// Returns the possible answers, one on each line: what each allows, for how long, and where that is stored.
pub(crate) fn choices(request: &ApprovalRequest, grants: &dyn fmt::Display) -> String {
    if request.each_time {
        let lines = [
            format!("({})", sanitized_line(&request.reason)),
            "1 y  yes, run this call".to_owned(),
            "4 e  edit the arguments first".to_owned(),
            "5 n  no; `n REASON` gives the model a reason".to_owned(),
        ];
        let line = |line: String| wrapped_with_paths(&format!("  {line}"), 7) + "\n";
        return lines.into_iter().map(line).collect();
    }
    let rule = rule(kept_grant(request));
    let lines = [
        "1 y  yes, run this call".to_owned(),
        format!("2 s  yes, and run {rule} until this chat ends"),
        format!("3 a  yes, and always run {rule} in this folder ({grants})"),
        "4 e  edit the arguments first".to_owned(),
        "5 n  no; `n REASON` gives the model a reason".to_owned(),
    ];
    let prefix = prefix_grant(request).map(|(_, prefix)| {
        format!(
            "6 p  yes, and always run commands that begin with {prefix} in this folder, except with options that write files or run \
             programs ({grants})"
        )
    });
    let line = |line: String| wrapped_with_paths(&format!("  {line}"), 7) + "\n";
    lines.into_iter().chain(prefix).map(line).collect()
}

/// Returns whether an approval covers later calls.
fn is_remembered(approval: &Approval) -> bool {
    matches!(approval, Approval::Allow { scope, .. } if *scope != ApprovalScope::Once)
}

/// Returns the grant that "session" and "always" keep: for any arguments, but for a shell only for the same command.
fn kept_grant(request: &ApprovalRequest) -> &Grant {
    match request.permissions.contains(&Permission::Shell) {
        true => &request.grant,
        false => &request.tool_grant,
    }
}

fn parse(line: &str) -> Answer {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match (word.to_lowercase().as_str(), rest.trim()) {
        ("y" | "yes" | "1", "") => Answer::Approval(Box::new(Approval::once())),
        ("s" | "session" | "2", "") => Answer::Approval(Box::new(Approval::session())),
        ("a" | "always" | "3", "") => Answer::Approval(Box::new(Approval::always())),
        ("e" | "edit" | "4", "") => Answer::Edit,
        ("p" | "prefix" | "6", "") => Answer::Prefix,
        ("n" | "no" | "5", "") => Answer::Approval(Box::new(Approval::deny(NO))),
        ("n" | "no" | "no," | "5", reason) => {
            let reason = reason.strip_prefix("because ").unwrap_or(reason);
            Answer::Approval(Box::new(Approval::deny(format!("The user answered no: {reason}"))))
        }
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
    use agcore_workbench::sample_tools;

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
        for wrong in ["maybe", "", "?", "yes please", "7"] {
            assert_eq!(parse(wrong), Answer::Unrecognized);
        }
        for (number, letter) in [("1", "y"), ("2", "s"), ("3", "a"), ("4", "e"), ("5", "n")] {
            assert_eq!(parse(number), parse(letter));
        }
        let denied = Approval::deny("The user answered no: it is private");
        for answer in ["n because it is private", "No, it is private", "5 it is private"] {
            assert_eq!(parse(answer), Answer::Approval(Box::new(denied.clone())), "{answer}");
        }
    }

    #[test]
    fn the_answers_name_the_rule_and_where_it_is_stored() {
        assert_eq!(rule(&Grant::new("save_note")), "save_note with any arguments");
    }
}
