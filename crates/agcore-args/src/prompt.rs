//! A prompt without a command: `agcore 'Why is the sky blue?'`.

use std::ffi::{OsStr, OsString};

use agcore::chat::text::nearest;
use clap::Command;

/// The name of the hidden command that stands for a prompt without a command.
pub(super) const COMMAND: &str = "prompt";

/// The name under which users of other programs look for a single message: the same as `-p`.
const EXEC: &str = "exec";

/// The option with which a word is a message, even if it is the name of a command.
const PRINT: &str = "print";

/// Inserts the hidden command in front of the arguments if they begin with a prompt or an option of the chat. A word that
/// resembles a command is left alone, so that a typo is reported and not sent to a model. Without arguments, the program begins a
/// chat or answers standard input if `begins_alone`, and shows its help otherwise.
pub(super) fn with_command(
    mut arguments: Vec<OsString>,
    program: &Command,
    begins_alone: impl FnOnce() -> bool,
) -> Vec<OsString> {
    let first = first_argument(&arguments);
    if first == arguments.len() {
        arguments.extend(begins_alone().then(|| COMMAND.into()));
        return arguments;
    }
    if let Some(at) = later_command(&arguments, first, program) {
        let command = arguments.remove(at);
        arguments.insert(first, command);
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

/// Returns the program with the help of a single message, if that is what the arguments ask for.
pub(super) fn with_exec_help(program: Command, arguments: &[OsString]) -> Command {
    let first = first_argument(arguments);
    match arguments.get(first).is_some_and(|argument| argument == EXEC) {
        false => program,
        true => program.mut_subcommand(COMMAND, |command| {
            command
                .about("Answer a prompt once and exit, the same as -p")
                .override_usage("agcore exec [OPTIONS] [PROMPT]")
        }),
    }
}

/// Returns the position of a command behind options of the chat: `-m gpt-5 chat` means `chat -m gpt-5`.
fn later_command(arguments: &[OsString], first: usize, program: &Command) -> Option<usize> {
    // Knows the options only, so that the first other word is left, with everything behind it.
    let options = with_options(Command::new("agcore"), program)
        .allow_external_subcommands(true)
        .ignore_errors(true);
    let matches = options.try_get_matches_from(arguments).ok()?;
    let (word, behind) = matches.subcommand()?;
    let behind = behind.get_many::<OsString>("").map_or(0, |words| words.len());
    let at = arguments.len().checked_sub(behind + 1)?;
    let is_command = word == EXEC || commands(program).any(|name| name == word);
    // With `-p` and behind `--`, it is a message of one word.
    let is_message = matches.get_flag(PRINT) || arguments[at - 1] == "--";
    (at > first && is_command && !is_message).then_some(at)
}

/// Returns the program without the hidden command, whose options become those of the program itself: a prompt needs no
/// command.
pub(super) fn without_command(program: Command) -> Command {
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let visible = Command::new("agcore").subcommands(commands.cloned());
    with_options(visible, &program)
}

/// Adds the options of the hidden command, and those of the program itself.
fn with_options(command: Command, program: &Command) -> Command {
    let hidden = program.get_subcommands().filter(|command| command.is_hide_set());
    let options = hidden
        .flat_map(Command::get_arguments)
        .filter(|argument| !argument.is_positional());
    command.args(options).args(program.get_arguments())
}

/// Returns the position of the first argument that is neither the program's name nor a global option.
fn first_argument(arguments: &[OsString]) -> usize {
    let mut position = 1;
    while let Some(argument) = arguments.get(position).and_then(|argument| argument.to_str()) {
        position += match argument {
            "--log" | "--log-format" => 2,
            "--no-color" | "--no-colour" => 1,
            _ if argument.starts_with("--log=") || argument.starts_with("--log-format=") => 1,
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
    argument != "help" && nearest(argument, commands(program)).is_none()
}

/// Returns the names of the commands.
fn commands(program: &Command) -> impl Iterator<Item = &str> {
    let visible = program.get_subcommands().filter(|command| !command.is_hide_set());
    visible.map(Command::get_name)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Args;

    #[track_caller]
    fn check(arguments: &[&str], expected: &[&str]) {
        let arguments = arguments.iter().map(OsString::from).collect();
        assert_eq!(with_command(arguments, &Args::command(), || false), expected);
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
    fn a_command_may_follow_options_of_the_chat() {
        check(
            &["agcore", "-m", "gpt-5", "chat", "hello"],
            &["agcore", "chat", "-m", "gpt-5", "hello"],
        );
        check(
            &["agcore", "--no-color", "--model=gpt-5", "-c", "exec", "hi"],
            &["agcore", "--no-color", "prompt", "--print", "--model=gpt-5", "-c", "hi"],
        );
        check(&["agcore", "-m", "chat"], &["agcore", "prompt", "-m", "chat"]);
        check(&["agcore", "-r", "run"], &["agcore", "prompt", "-r", "run"]);
        check(&["agcore", "-r", "-c", "run"], &["agcore", "run", "-r", "-c"]);
        // A message of one word.
        check(&["agcore", "-p", "run"], &["agcore", "prompt", "-p", "run"]);
        check(&["agcore", "-qp", "run"], &["agcore", "prompt", "-qp", "run"]);
        check(&["agcore", "-mchat", "run", "-p"], &["agcore", "run", "-mchat", "-p"]);
        check(
            &["agcore", "-m", "x", "用", "run"],
            &["agcore", "prompt", "-m", "x", "用", "run"],
        );
        // A mistake is reported later.
        check(
            &["agcore", "--modle", "x", "run"],
            &["agcore", "prompt", "--modle", "x", "run"],
        );
        check(
            &["agcore", "-m", "x", "--", "run"],
            &["agcore", "prompt", "-m", "x", "--", "run"],
        );
    }

    #[test]
    fn without_arguments_a_terminal_gets_a_chat() {
        for arguments in [&["agcore"] as &[&str], &["agcore", "--no-color", "--log", "info"]] {
            let given: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let completed = with_command(given, &Args::command(), || true);
            assert_eq!(completed, [arguments, &["prompt"]].concat());
        }
        let help = vec![OsString::from("agcore"), OsString::from("--help")];
        assert_eq!(with_command(help.clone(), &Args::command(), || true), help);
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
