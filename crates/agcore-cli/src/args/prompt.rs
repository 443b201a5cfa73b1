//! A prompt without a command: `agcore 'Why is the sky blue?'`.

use std::ffi::{OsStr, OsString};

use agcore::chat::text::nearest;
use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// The name of the hidden command that stands for a prompt without a command.
pub(super) const COMMAND: &str = "prompt";

/// The commands that take a message.
const MESSAGE_COMMANDS: [&str; 3] = [COMMAND, "chat", "run"];

/// The name under which users of other programs look for a single message: the same as `-p`.
const EXEC: &str = "exec";

/// Inserts the hidden command in front of the arguments if they begin with a prompt or an option of the chat. A word that
/// resembles a command is left alone, so that a typo is reported and not sent to a model. Without arguments, the program opens a
/// chat at a terminal, and shows its help elsewhere.
pub(super) fn with_command(mut arguments: Vec<OsString>, program: &Command, is_at_terminal: bool) -> Vec<OsString> {
    let first = first_argument(&arguments);
    if is_at_terminal && first == arguments.len() {
        arguments.push(COMMAND.into());
        return arguments;
    }
    if arguments.get(first).is_some_and(|argument| argument == EXEC) {
        arguments.splice(first..=first, [COMMAND.into(), "--print".into()]);
        return arguments;
    }
    if arguments
        .get(first)
        .is_some_and(|argument| begins_prompt(argument, program))
    {
        arguments.insert(first, COMMAND.into());
    }
    arguments
}

/// Adds to an error about a second word how to send a message of several words, if the first one may begin a message.
pub(super) fn with_quoting(mut error: Error, arguments: &[OsString]) -> Error {
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    if let Some(quoted) = quoted(&error, &words) {
        let tip = format!("a message of several words needs quotation marks: {quoted}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Returns the command line with quotation marks around the message.
fn quoted(error: &Error, words: &[&str]) -> Option<String> {
    let is_word = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| !word.is_empty() && !word.starts_with('-'))
    };
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let start = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let first = text(ContextKind::InvalidSubcommand)?;
            words.iter().position(|word| *word == first).filter(|at| *at == 1)?
        }
        ErrorKind::UnknownArgument => {
            let command = words.iter().skip(1).find(|word| MESSAGE_COMMANDS.contains(word))?;
            let second = text(ContextKind::InvalidArg)?;
            let at = (2..words.len()).find(|at| words[*at] == second && is_word(*at) && is_word(*at - 1))?;
            (words[at - 1] != *command).then_some(at - 1)?
        }
        _ => return None,
    };
    let end = (start..words.len()).find(|at| !is_word(*at)).unwrap_or(words.len());
    let message = words[start..end].join(" ");
    if end - start < 2 || message.contains(['"', '$', '`', '\\', '!']) {
        return None;
    }
    let before = words[1..start].iter().filter(|word| **word != COMMAND).copied();
    let message = format!("\"{message}\"");
    let line: Vec<&str> = ["agcore"]
        .into_iter()
        .chain(before)
        .chain([message.as_str()])
        .chain(words[end..].iter().copied())
        .collect();
    Some(line.join(" "))
}

/// Returns the program without the hidden command, whose options become those of the program itself: a prompt needs no
/// command.
pub(super) fn without_command(program: Command) -> Command {
    let mut visible = Command::new("agcore");
    for command in program.get_subcommands() {
        visible = match command.is_hide_set() {
            true => visible.args(command.get_arguments().filter(|argument| !argument.is_positional())),
            false => visible.subcommand(command.clone()),
        };
    }
    visible.args(program.get_arguments())
}

/// Returns the position of the first argument that is neither the program's name nor a global option.
fn first_argument(arguments: &[OsString]) -> usize {
    let mut position = 1;
    while let Some(argument) = arguments.get(position).and_then(|argument| argument.to_str()) {
        position += match argument {
            "--log" => 2,
            "--no-color" | "--no-colour" => 1,
            _ if argument.starts_with("--log=") => 1,
            _ => break,
        };
    }
    position
}

fn begins_prompt(argument: &OsStr, program: &Command) -> bool {
    let Some(argument) = argument.to_str() else {
        return true;
    };
    if argument.starts_with('-') {
        return !["-h", "--help", "-V", "--version"].contains(&argument);
    }
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let names = commands.map(Command::get_name);
    argument != "help" && nearest(argument, names).is_none()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Args;

    #[track_caller]
    fn check(arguments: &[&str], expected: &[&str]) {
        let arguments = arguments.iter().map(OsString::from).collect();
        assert_eq!(with_command(arguments, &Args::command(), false), expected);
    }

    #[test]
    fn a_prompt_needs_no_command() {
        check(&["agcore", "Why?"], &["agcore", "prompt", "Why?"]);
        check(&["agcore", "hi"], &["agcore", "prompt", "hi"]);
        check(&["agcore", "-p", "hi"], &["agcore", "prompt", "-p", "hi"]);
        check(&["agcore", "exec", "hi"], &["agcore", "prompt", "--print", "hi"]);
        check(&["agcore", "-"], &["agcore", "prompt", "-"]);
        check(
            &["agcore", "--log", "info", "--no-color", "-m", "gpt-5", "hi"],
            &["agcore", "--log", "info", "--no-color", "prompt", "-m", "gpt-5", "hi"],
        );
    }

    #[test]
    fn a_message_without_quotation_marks_is_recognized() {
        let tip = |line: &str| {
            let arguments = line.split(' ').map(OsString::from).collect();
            let arguments = with_command(arguments, &Args::command(), false);
            let error = Args::command().try_get_matches_from(&arguments).unwrap_err();
            let shown = with_quoting(error, &arguments).to_string();
            let tip = shown.split_once("needs quotation marks: ").map(|(_, rest)| rest);
            tip.map(|rest| rest.lines().next().unwrap_or_default().to_owned())
        };
        let check = |line: &str, expected: &str| assert_eq!(tip(line).as_deref(), Some(expected), "{line}");
        // The first word resembles `chat`.
        check("agcore what is this", "agcore \"what is this\"");
        check("agcore is this so", "agcore \"is this so\"");
        check("agcore -p -m gpt-5 is this so", "agcore -p -m gpt-5 \"is this so\"");
        check("agcore is this so --no-tools", "agcore \"is this so\" --no-tools");
        check("agcore chat is this so", "agcore chat \"is this so\"");
        check("agcore run the tests", "agcore run \"the tests\"");
        for line in [
            "agcore doctr",
            "agcore chat --modle x",
            "agcore tools lst x",
            "agcore doctor x y",
        ] {
            assert_eq!(tip(line), None, "{line}");
        }
    }

    #[test]
    fn without_arguments_a_terminal_gets_a_chat() {
        for arguments in [&["agcore"] as &[&str], &["agcore", "--no-color", "--log", "info"]] {
            let given: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let completed = with_command(given, &Args::command(), true);
            assert_eq!(completed, [arguments, &["prompt"]].concat());
        }
        let help = vec![OsString::from("agcore"), OsString::from("--help")];
        assert_eq!(with_command(help.clone(), &Args::command(), true), help);
    }

    #[test]
    fn commands_and_typos_of_commands_are_no_prompts() {
        for arguments in [
            &["agcore"] as &[&str],
            &["agcore", "--help"],
            &["agcore", "help", "chat"],
            &["agcore", "chat", "hi"],
            &["agcore", "--log=info", "doctor"],
            &["agcore", "doctr"],
        ] {
            check(arguments, arguments);
        }
    }
}
