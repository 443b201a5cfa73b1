//! A prompt without a command: `agcore 'Why is the sky blue?'`.

use std::ffi::{OsStr, OsString};

use agcore::chat::text::nearest;
use clap::{Arg, Command};

/// The name of the hidden command that stands for a prompt without a command.
pub(super) const COMMAND: &str = "prompt";

/// The name under which users of other programs look for a single message: the same as `-p`.
const EXEC: &str = "exec";

/// The options with which a word is a message, even if it is the name of a command.
const PRINT: [&str; 3] = ["-p", "--print", "--prompt"];

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
    let word = |at: usize| arguments.get(at).and_then(|argument| argument.to_str());
    let is_option = |word: &&str| word.len() > 1 && word.starts_with('-') && *word != "--";
    let mut at = first;
    while let Some(option) = word(at).filter(is_option) {
        if PRINT.contains(&option) {
            return None;
        }
        at += 1 + usize::from(takes_next(option, word(at + 1), program));
    }
    let is_command = |word: &str| word == EXEC || commands(program).any(|name| name == word);
    (at > first && word(at).is_some_and(is_command)).then_some(at)
}

/// Returns whether the argument after an option is its value.
fn takes_next(option: &str, next: Option<&str>, program: &Command) -> bool {
    let is_it = |arg: &&Arg| match option.strip_prefix("--") {
        Some(long) => {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long() == Some(long) || aliases.contains(&long)
        }
        None => option.chars().nth(1) == arg.get_short() && option.chars().count() == 2,
    };
    let chat = program.find_subcommand(COMMAND).into_iter();
    let mut known = chat.flat_map(Command::get_arguments).chain(program.get_arguments());
    let Some(arg) = known.find(is_it) else { return false };
    let is_optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
    arg.get_action().takes_values() && !(is_optional && next.is_none_or(|next| next.starts_with('-')))
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
    use crate::args::Args;

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
