//! A prompt without a command: `agcore 'Why is the sky blue?'`.

use std::ffi::{OsStr, OsString};

use agcore::chat::text::nearest;
use clap::Command;

/// The name of the hidden command that stands for a prompt without a command.
pub(super) const COMMAND: &str = "prompt";

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
