//! The help of the program itself: its commands in groups, examples and exit codes.

pub mod missing;
pub(super) mod option_help;
pub(super) mod manual;
pub(super) mod tip;

use std::{
    borrow::Cow,
    ffi::OsString,
    io::{self, Write as _},
};

use agcore::chat::text::visible;
use agcore_terminal::{
    process::variable,
    render::{known_window_width, sanitized, wrapped_paragraphs},
};
use clap::Command;

use crate::exit_code::exit_codes;

/// Prints an error about the arguments, or the help, and ends the process. Control characters of arguments do not reach the
/// terminal.
#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "the arguments of the process are wrong, as for `clap::Error::exit`"
)]
pub(super) fn exit(error: &clap::Error, arguments: &[OsString]) -> ! {
    let is_odd = |argument: &OsString| {
        let text = argument.to_string_lossy();
        !matches!(visible(&text), Cow::Borrowed(_))
    };
    if !arguments.iter().any(is_odd) {
        error.exit();
    }
    // Without colors, whose escape sequences could not be distinguished from others.
    let text = sanitized(&error.render().to_string()).into_owned();
    let _ = match error.use_stderr() {
        true => io::stderr().write_all(text.as_bytes()),
        false => io::stdout().write_all(text.as_bytes()),
    };
    std::process::exit(error.exit_code())
}

/// The usage of the program.
pub(super) const USAGE: &str = "agcore <COMMAND> [OPTIONS]
       agcore [CHAT OPTIONS] [-p] [PROMPT]";

const EPILOGUE: &str = "\
Without a command, a chat opens; it begins with the prompt, if there is one. With -p, or if standard input or output is not a \
terminal, the prompt is answered once instead. `agcore exec` is the same as -p.

Options used most, of those that `agcore chat --help` lists:
  -m, --model NAME          the model, such as gpt-5-mini or ollama:llama3.2
  -c, --continue            continue the newest session of the current directory
  -r, --resume [ID|NAME]    continue another session; without a value, choose from a list
  --permission-mode MODE    default, acceptEdits, plan, dontAsk or bypassPermissions
  --schema FILE|JSON        answer with JSON that matches a JSON Schema

Examples:
  agcore demo
  OPENAI_API_KEY=sk-... agcore
  agcore 'Why is the sky blue?'
  agcore -m ollama:llama3.2
  git diff | agcore -p 'Review this change.'
  agcore tools call arithmetic '{\"operation\": \"add\", \"a\": 1, \"b\": 2}'
  agcore doctor
  agcore inspect case answers/*.json --out results

Exit codes:";

/// The options in the short help.
const SHORT_OPTIONS: &str = "\
Options used most:
  -p, --print               answer the prompt once and exit
  -m, --model NAME          the model, such as gpt-5-mini or ollama:llama3.2
  -c, --continue            continue the newest session of the current directory
  -r, --resume [ID|NAME]    continue another session, or choose one
  --permission-mode MODE    default, acceptEdits, plan, dontAsk or bypassPermissions";

const SHORT_EPILOGUE: &str = "\
See `agcore --help` for more, and `agcore COMMAND --help` for a command.";

/// The groups in which the commands are listed.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Talk to a model", &["chat", "run", "flow", "acp", "demo"]),
    ("Set up", &["init", "keys", "trust", "models", "config", "doctor"]),
    ("Sessions and costs", &["sessions", "approvals", "cost"]),
    ("Tools and agents", &["tools", "mcp", "skills", "agents"]),
    (
        "Data",
        &["knowledge", "memory", "schedules", "webhooks", "quotas", "store"],
    ),
    (
        "Build and operate",
        &["new", "serve", "worker", "admin", "eval", "inspect", "catalog"],
    ),
    ("About the program", &["help", "man", "completion", "schema"]),
];

/// The widest help, as clap wraps it.
const MAX_WIDTH: usize = 100;

/// The heading of commands that no group names.
const OTHERS: &str = "Other commands";

/// Returns the epilogue of the help, with the exit codes.
pub(super) fn epilogue() -> String {
    let rows = exit_codes().map(|(code, meaning)| format!("\n  {code:<3}  {meaning}"));
    EPILOGUE.to_owned() + &rows.collect::<String>()
}

/// Returns the program with a help that lists its commands in groups: with `-h` only their names, so that the help fits on a
/// screen.
pub(super) fn with_groups(mut program: Command) -> Command {
    // Adds the command `help`.
    program.build();
    let width = width();
    let wrapped = |text: &str| wrapped_paragraphs(text.trim_end(), width);
    let short = format!("{}\n{SHORT_OPTIONS}", short_groups(&program));
    let (short, long) = (wrapped(&short), wrapped(&groups(&program)));
    with_wrapped_epilogue(program, width)
        .before_help(short)
        .before_long_help(long)
        .after_help(wrapped(SHORT_EPILOGUE))
        .after_long_help(wrapped(&epilogue()))
        .help_template("{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}")
}

/// Lists the names of the commands in groups, one on each line.
fn short_groups(program: &Command) -> String {
    let width = GROUPS.iter().map(|(heading, _)| heading.len()).max().unwrap_or(0);
    let is_there = |name: &&&str| program.find_subcommand(**name).is_some();
    let line = |(heading, names): &(&str, &[&str])| {
        let names: Vec<&str> = names.iter().filter(is_there).copied().collect();
        format!("  {heading:<width$}  {}\n", names.join(", "))
    };
    "Commands:\n".to_owned() + &GROUPS.iter().map(line).collect::<String>()
}

/// Wraps the epilogues of a command and of those below it. By itself, clap would not indent the continuation of a line in a list.
fn with_wrapped_epilogue(command: Command, width: usize) -> Command {
    let command = command.mut_subcommands(|command| with_wrapped_epilogue(command, width));
    match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(wrapped_paragraphs(&text, width)),
        None => command,
    }
}

/// Returns the width of the help, as clap determines it.
fn width() -> usize {
    let in_variable = || variable("COLUMNS")?.parse::<usize>().ok();
    let width = known_window_width().or_else(in_variable).filter(|width| *width > 0);
    width.unwrap_or(MAX_WIDTH).min(MAX_WIDTH)
}

/// Lists the commands of the program in groups.
fn groups(program: &Command) -> String {
    let visible = || program.get_subcommands().filter(|command| !command.is_hide_set());
    let width = visible().map(|command| command.get_name().len()).max().unwrap_or(0);
    let line = |command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:<width$}  {about}\n", command.get_name())
    };
    let group = |heading: &str, commands: Vec<&Command>| match commands.as_slice() {
        [] => String::new(),
        commands => {
            let lines: String = commands.iter().map(|command| line(command)).collect();
            format!("{heading}:\n{lines}\n")
        }
    };
    let known: String = GROUPS
        .iter()
        .map(|(heading, names)| {
            let named = names
                .iter()
                .filter_map(|name| visible().find(|command| command.get_name() == *name));
            group(heading, named.collect())
        })
        .collect();
    let is_known = |command: &&Command| GROUPS.iter().any(|(_, names)| names.contains(&command.get_name()));
    let others = visible().filter(|command| !is_known(command)).collect();
    known + &group(OTHERS, others)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Args;

    #[test]
    fn every_command_is_in_one_group() {
        let mut program = Args::command();
        program.build();
        let shown = groups(&program);
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let start = format!("\n  {} ", command.get_name());
            assert_eq!(shown.matches(&start).count(), 1, "{}: {shown}", command.get_name());
        }
        assert!(!shown.contains(OTHERS), "{shown}");
        assert!(shown.starts_with("Talk to a model:\n  chat "), "{shown}");
    }

    #[test]
    fn the_options_in_the_epilogue_are_those_of_a_chat() {
        let program = Args::command();
        let chat = program.find_subcommand("chat").unwrap();
        let options: Vec<&str> = [EPILOGUE, SHORT_OPTIONS]
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| line.starts_with("  -"))
            .filter_map(|line| line.split_whitespace().find_map(|word| word.strip_prefix("--")))
            .collect();
        assert_eq!(options.len(), 10, "{options:?}");
        for option in options {
            assert!(
                chat.get_arguments().any(|arg| arg.get_long() == Some(option)),
                "{option}"
            );
        }
    }

    #[test]
    fn a_command_without_a_group_is_listed() {
        let program = Command::new("agcore")
            .subcommand(Command::new("chat").about("Chat"))
            .subcommand(Command::new("tidy").about("Tidy something"))
            .subcommand(Command::new("prompt").hide(true));
        assert_eq!(
            groups(&program),
            "Talk to a model:\n  chat  Chat\n\nOther commands:\n  tidy  Tidy something\n\n"
        );
    }
}
