//! The help of options: the groups in which they are listed, and what they mean to the commands that share those of `chat`.

use clap::{Arg, Command};

/// The groups of options, by their ids. Options that no group names come first, without a heading of their own.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Session",
        &["continues", "resume", "fork_session", "name", "ephemeral", "suspend"],
    ),
    ("Model", &["model", "provider", "base_url", "proxy", "options"]),
    (
        "Tools and approval",
        &[
            "no_tools",
            "permission_mode",
            "allow",
            "yes",
            "add_dirs",
            "sandbox",
            "mcp_config",
            "grants",
        ],
    ),
    (
        "Output and records",
        &[
            "output_format",
            "include_partial_messages",
            "quiet",
            "schema",
            "record",
            "catalog",
            "trace_content",
        ],
    ),
    (
        "Settings and trust",
        &["config", "no_env_file", "trust_folder", "no_context_files"],
    ),
    ("Flow", &["flow", "set", "answer", "skills", "profiles", "user"]),
];

/// The number of options from which they are listed in groups.
const MANY: usize = 16;

/// The options of `chat` that a task rejects, or that do not change it.
const NOT_OF_TASKS: [&str; 4] = ["print", "fork_session", "suspend", "schema"];

/// The options of `chat` that do not change a flow, whose file names its agents.
const NOT_OF_FLOWS: [&str; 3] = ["print", "agent", "schema"];

/// Texts for `run` about the arguments of `chat`.
const OF_TASKS: [(&str, &str); 7] = [
    (
        "message",
        "The task, to which piped input is appended. If it is missing or `-`, standard input is the task",
    ),
    (
        "continues",
        "Continue the newest task of the current directory where it was",
    ),
    (
        "resume",
        "Continue a task, named by the ID of its session, the beginning of it, or its name; without a value, choose from a list",
    ),
    ("name", "Name the session of the task, for lists and for --resume"),
    ("ephemeral", "Do not keep the task after the program ends"),
    (
        "agent",
        "Give the task to an agent in a file of .agcore/agents, or of agents next to your user settings, instead of the default \
         one",
    ),
    ("files", "Text file or image to send with the task; can be repeated"),
];

/// Texts for `flow run` about the arguments of `chat`.
const OF_FLOWS: [(&str, &str); 5] = [
    (
        "message",
        "The request to the flow, to which piped input is appended. If it is missing or `-`, standard input is the request",
    ),
    (
        "continues",
        "Continue the newest run of the current directory; with a PROMPT, begin the next turn of its conversation",
    ),
    (
        "resume",
        "Continue a run, named by the ID of its session, the beginning of it, or its name; without a value, choose from a list",
    ),
    ("name", "Name the session of the run, for lists and for --resume"),
    (
        "files",
        "Text file, image or document to send with the request; can be repeated",
    ),
];

/// Returns the program with its options in groups, and with texts that fit each command.
pub(crate) fn with_option_help(program: Command) -> Command {
    program.mut_subcommands(|command| match command.get_name() {
        "run" => grouped(of_tasks(command)),
        "flow" => command.mut_subcommands(|command| match command.get_name() {
            "run" => grouped(described(without(command, &NOT_OF_FLOWS), &OF_FLOWS)),
            _ => command,
        }),
        _ => grouped(command),
    })
}

fn of_tasks(command: Command) -> Command {
    let command = described(without(command, &NOT_OF_TASKS), &OF_TASKS);
    command.mut_arg("message", |arg| arg.value_name("TASK"))
}

/// Hides options.
fn without(command: Command, ids: &'static [&str]) -> Command {
    command.mut_args(|arg| match ids.contains(&arg.get_id().as_str()) {
        true => arg.hide(true),
        false => arg,
    })
}

fn described(command: Command, texts: &'static [(&str, &str)]) -> Command {
    command.mut_args(|arg| match texts.iter().find(|(id, _)| arg.get_id() == *id) {
        Some((_, text)) => arg.help(*text),
        None => arg,
    })
}

fn grouped(command: Command) -> Command {
    match command.get_opts().count() < MANY {
        true => command,
        false => command.mut_args(in_group),
    }
}

fn in_group(arg: Arg) -> Arg {
    let group = GROUPS.iter().find(|(_, ids)| ids.contains(&arg.get_id().as_str()));
    match group {
        Some((heading, _)) if !arg.is_positional() => arg.help_heading(*heading),
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Args;

    #[track_caller]
    fn command(path: &[&str]) -> Command {
        let mut found = &Args::program();
        for name in path {
            found = found.find_subcommand(name).unwrap();
        }
        found.clone()
    }

    #[test]
    fn every_name_in_the_tables_is_that_of_an_option() {
        let run = command(&["run"]);
        let ids: Vec<&str> = run.get_arguments().map(|arg| arg.get_id().as_str()).collect();
        let grouped = GROUPS.iter().flat_map(|(_, ids)| ids.iter().copied());
        let described = OF_TASKS.iter().chain(&OF_FLOWS).map(|(id, _)| *id);
        for id in grouped.chain(described).chain(NOT_OF_TASKS).chain(NOT_OF_FLOWS) {
            assert!(ids.contains(&id), "{id}: {ids:?}");
        }
    }

    #[test]
    fn the_options_of_a_chat_are_in_groups() {
        let chat = command(&["chat"]);
        let mut headings: Vec<&str> = chat.get_arguments().filter_map(Arg::get_help_heading).collect();
        headings.dedup();
        let expected = [
            "Session",
            "Model",
            "Settings and trust",
            "Tools and approval",
            "Output and records",
        ];
        for heading in expected {
            assert!(headings.contains(&heading), "{headings:?}");
        }
        let without: Vec<&str> = chat
            .get_opts()
            .filter(|arg| arg.get_help_heading().is_none() && !arg.is_hide_set())
            .map(|arg| arg.get_id().as_str())
            .collect();
        assert_eq!(without, ["print", "files", "agent", "system"]);
    }

    #[test]
    fn tasks_and_flows_do_not_speak_of_chats() {
        for path in [&["run"][..], &["flow", "run"]] {
            let command = command(path);
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(
                    !help.contains("a chat begins") && !help.contains("Chat with"),
                    "{path:?}: {help}"
                );
            }
        }
    }
}
