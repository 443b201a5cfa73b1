//! The slash commands of a chat: names, arguments and help in one table, which completion and `/help` use as well.

use agcore::chat::text::nearest;

use crate::{
    console::CommandName,
    render::{columns, sanitized_line},
};

/// A command of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Help,
    Model,
    Tools,
    Mcp,
    Skills,
    Agents,
    Prompt,
    Permissions,
    Plan,
    Status,
    Usage,
    Context,
    Last,
    Undo,
    Retry,
    Edit,
    Copy,
    Save,
    Load,
    Resume,
    Sessions,
    Compact,
    Clear,
    Exit,
}

/// Whether a command takes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Argument {
    None,
    Optional,
    Required,
}

#[derive(Debug)]
struct Entry {
    kind: Kind,
    name: &'static str,
    aliases: &'static [&'static str],
    argument: Argument,
    /// The argument as shown to users.
    usage: &'static str,
    help: &'static str,
}

const TABLE: [Entry; 24] = [
    entry(Kind::Help, "/help", &[], Argument::None, "", "list the commands"),
    entry(
        Kind::Model,
        "/model",
        &[],
        Argument::Optional,
        "[NAME]",
        "show the model, or switch to another one",
    ),
    entry(
        Kind::Tools,
        "/tools",
        &[],
        Argument::None,
        "",
        "list the tools and whether they may run",
    ),
    entry(Kind::Mcp, "/mcp", &[], Argument::None, "", "list the MCP servers"),
    entry(
        Kind::Skills,
        "/skills",
        &[],
        Argument::None,
        "",
        "list the skills that the model can read",
    ),
    entry(
        Kind::Agents,
        "/agents",
        &["/agent"],
        Argument::Optional,
        "[NAME]",
        "list the agents in files, or continue with one of them",
    ),
    entry(
        Kind::Prompt,
        "/prompt",
        &[],
        Argument::Optional,
        "[NAME]",
        "list the prompts of MCP servers, or send one: /prompt SERVER:NAME KEY=VALUE",
    ),
    entry(
        Kind::Permissions,
        "/permissions",
        &[],
        Argument::Optional,
        "[revoke TOOL]",
        "show rules and answers that were kept, or revoke an answer",
    ),
    entry(
        Kind::Plan,
        "/plan",
        &[],
        Argument::None,
        "",
        "turn plan mode on, in which only read-only tools run, or off",
    ),
    entry(
        Kind::Status,
        "/status",
        &[],
        Argument::None,
        "",
        "show the model, the server and the files in use",
    ),
    entry(
        Kind::Usage,
        "/usage",
        &["/cost"],
        Argument::None,
        "",
        "show tokens and costs of the last call, the last turn and this chat",
    ),
    entry(
        Kind::Context,
        "/context",
        &[],
        Argument::None,
        "",
        "show what fills the context window",
    ),
    entry(
        Kind::Last,
        "/last",
        &[],
        Argument::None,
        "",
        "show the last tool call in full, as does Ctrl-O",
    ),
    entry(
        Kind::Undo,
        "/undo",
        &["/rewind"],
        Argument::None,
        "",
        "remove the last message and its answer",
    ),
    entry(
        Kind::Retry,
        "/retry",
        &[],
        Argument::None,
        "",
        "send the last message again",
    ),
    entry(
        Kind::Edit,
        "/edit",
        &[],
        Argument::None,
        "",
        "change the last message and send it again",
    ),
    entry(
        Kind::Copy,
        "/copy",
        &[],
        Argument::None,
        "",
        "copy the last answer to the clipboard",
    ),
    entry(
        Kind::Save,
        "/save",
        &["/export"],
        Argument::Required,
        "FILE",
        "save the conversation to a file",
    ),
    entry(
        Kind::Load,
        "/load",
        &[],
        Argument::Required,
        "FILE",
        "continue a conversation from a file",
    ),
    entry(
        Kind::Resume,
        "/resume",
        &[],
        Argument::Optional,
        "[ID]",
        "continue another session, or choose one from a list",
    ),
    entry(
        Kind::Sessions,
        "/sessions",
        &[],
        Argument::None,
        "",
        "list the newest sessions",
    ),
    entry(
        Kind::Compact,
        "/compact",
        &[],
        Argument::Optional,
        "[FOCUS]",
        "summarize the older part, with attention to FOCUS",
    ),
    entry(
        Kind::Clear,
        "/clear",
        &["/new"],
        Argument::None,
        "",
        "start a new conversation",
    ),
    entry(
        Kind::Exit,
        "/exit",
        &["/quit"],
        Argument::None,
        "",
        "leave the chat, as does Ctrl-D",
    ),
];

const fn entry(
    kind: Kind,
    name: &'static str,
    aliases: &'static [&'static str],
    argument: Argument,
    usage: &'static str,
    help: &'static str,
) -> Entry {
    Entry {
        kind,
        name,
        aliases,
        argument,
        usage,
        help,
    }
}

/// The column of the descriptions in [`help`] and [`KEYS`].
const COLUMN: usize = 15;

/// The part of `/help` that is not in the table.
const INPUT: &str = "\
@FILE          attach a file to the message; @\"a b\" if the name has spaces, @@ for a plain @
@SERVER:URI    attach a resource of an MCP server
!COMMAND       run a shell command; its output goes with the next message
//TEXT         send /TEXT as a message; so does a path such as /etc/hosts
?              list the keys
";

/// The keys of the prompt.
pub(super) const KEYS: &str = "\
Enter          send
Ctrl-J         start a new line; so do Alt-Enter, and Enter after a trailing \\
Ctrl-C         clear the input; twice on empty input: leave; during a turn: cancel
Esc            interrupt the turn; at a question: no
Ctrl-D         leave, on empty input
Tab            complete a command, @FILE, or a file name
↑ ↓, Ctrl-R    previous messages; search them
Shift-Tab      change the permission mode: default, acceptEdits, plan
Ctrl-G         edit the input in $VISUAL or $EDITOR
Ctrl-O         show the last tool call in full
Ctrl-L         clear the screen
Ctrl-Z         suspend; `fg` continues
Ctrl-A E K U W Y, Alt-B F D
               move and delete, as in a shell
Pasted text is one message. What is typed during a turn is sent after it.
";

/// The meaning of a line that starts with a slash.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Slash<'l> {
    /// Run a command, with its argument.
    Command(Kind, &'l str),
    /// Send a message.
    Message(&'l str),
}

/// Parses a line that starts with a slash. File names may contain spaces.
///
/// # Errors
/// When there is no such command, or its argument is missing or not expected.
pub(super) fn parse(line: &str) -> Result<Slash<'_>, String> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = name.get(1..).unwrap_or_default();
    if word.starts_with('/') {
        return Ok(Slash::Message(&line[1..]));
    }
    if !word.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return Ok(Slash::Message(line));
    }
    let Some(entry) = TABLE.iter().find(|entry| names(entry).any(|known| known == name)) else {
        return Err(unknown(name));
    };
    match (entry.argument, rest.trim()) {
        (Argument::Required, "") => Err(format!("{name} needs a file name: {name} {}", entry.usage)),
        (Argument::None, rest) if !rest.is_empty() => {
            Err(format!("{name} takes no argument, but got `{}`", sanitized_line(rest)))
        }
        (_, rest) => Ok(Slash::Command(entry.kind, rest)),
    }
}

/// Returns the table for completion.
pub(super) fn command_names() -> Vec<CommandName> {
    let row = |entry: &'static Entry| {
        names(entry).map(|name| CommandName {
            name,
            arguments: entry.usage,
            help: entry.help,
            takes_file: matches!(entry.kind, Kind::Save | Kind::Load),
        })
    };
    TABLE.iter().flat_map(row).collect()
}

/// Returns the text of `/help`.
pub(super) fn help() -> String {
    let row = |entry: &Entry| {
        let names = names(entry).collect::<Vec<_>>().join(", ");
        let usage = format!("{names} {}", entry.usage);
        let space = " ".repeat(COLUMN.saturating_sub(columns(usage.trim_end())));
        match space.as_str() {
            "" => format!("{}\n{:COLUMN$}{}\n", usage.trim_end(), "", entry.help),
            space => format!("{}{space}{}\n", usage.trim_end(), entry.help),
        }
    };
    TABLE
        .iter()
        .map(row)
        .chain(["\n".to_owned(), INPUT.to_owned()])
        .collect()
}

fn names(entry: &Entry) -> impl Iterator<Item = &'static str> + use<> {
    [entry.name].into_iter().chain(entry.aliases.iter().copied())
}

fn unknown(name: &str) -> String {
    let near = nearest(name, TABLE.iter().flat_map(names));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let name = sanitized_line(name);
    let period = if near.is_empty() { "." } else { "" };
    format!("unknown command {name}{near}{period} /help lists the commands; to send it as a message, type /{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_commands_and_messages() {
        let command = |line: &str, kind: Kind, argument: &str| {
            assert_eq!(parse(line), Ok(Slash::Command(kind, argument)), "{line}");
        };
        command("/model", Kind::Model, "");
        command("/model  gpt-5 ", Kind::Model, "gpt-5");
        command("/save my talk.json", Kind::Save, "my talk.json");
        command("/resume 0199", Kind::Resume, "0199");
        command("/load a", Kind::Load, "a");
        command("/quit", Kind::Exit, "");
        command("/compact the names of people", Kind::Compact, "the names of people");
        let message = |line: &str, text: &str| assert_eq!(parse(line), Ok(Slash::Message(text)), "{line}");
        message("/etc/passwd is a file", "/etc/passwd is a file");
        message("/tmp.txt", "/tmp.txt");
        message("/字", "/字");
        message("//help", "/help");
        message("//", "/");
    }

    #[test]
    fn reports_commands_that_cannot_run() {
        let error = |line: &str, expected: &str| assert_eq!(parse(line).unwrap_err(), expected, "{line}");
        error(
            "/modle x",
            "unknown command /modle; did you mean `/model`? /help lists the commands; to send it as a message, type //modle",
        );
        error(
            "/weather",
            "unknown command /weather. /help lists the commands; to send it as a message, type //weather",
        );
        error("/save", "/save needs a file name: /save FILE");
        error("/cost now", "/cost takes no argument, but got `now`");
    }

    #[test]
    fn help_and_completion_name_every_command_once() {
        let (help, names) = (help(), command_names());
        for command in &names {
            assert!(
                help.contains(command.name) && help.contains(command.help),
                "{}",
                command.name
            );
            assert_eq!(names.iter().filter(|other| other.name == command.name).count(), 1);
        }
        assert!(help.lines().chain(KEYS.lines()).all(|line| line.chars().count() <= 100));
    }
}
