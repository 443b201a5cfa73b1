//! The slash commands of a chat: names, arguments and help in one table, which completion and `/help` use as well.

mod own;
mod table;

pub(super) use self::{own::hidden, table::Kind};

use agcore::chat::text::nearest;
use agcore_settings::Project;
use agcore_terminal::{console::CommandName, render::sanitized_line};

use self::table::{Argument, Entry, TABLE, names, row};

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
Esc            interrupt the turn; at a question: no; twice on empty input: go back
Ctrl-D         leave, on empty input
@, /           show files or commands: ↑ ↓ select, Tab or Enter inserts, Esc closes
Tab            complete a command, @FILE, or a file name
↑ ↓, Ctrl-R    previous messages; search them
Shift-Tab      change the permission mode: default, acceptEdits, plan
Ctrl-G         edit the input in $VISUAL or $EDITOR
Ctrl-V         attach the image in the clipboard
Ctrl-O         show the last tool call and the last reasoning in full
Ctrl-L         clear the screen
Ctrl-Z         suspend; `fg` continues
Ctrl-A E K U W Y, Alt-B F D
               move and delete, as in a shell

Pasted text is one message. What is typed during a turn, up to Enter or Tab,
is sent after it; if you cancel the turn, it is in the input again.
";

/// The meaning of a line that starts with a slash.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Slash<'l> {
    /// Run a command, with its argument.
    Command(Kind, &'l str),
    /// Send a message.
    Message(&'l str),
    /// Send the message of a command in a file.
    Own {
        message: String,
        /// The file, or the folder of the skill.
        file: String,
    },
}

/// Parses a line that starts with a slash. File names may contain spaces. Commands of the program take precedence over those in
/// files.
///
/// # Errors
/// When there is no such command, or its argument is missing or not expected.
pub(super) fn parse<'l>(line: &'l str, project: &Project) -> Result<Slash<'l>, String> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = name.get(1..).unwrap_or_default();
    if word.starts_with('/') {
        return Ok(Slash::Message(&line[1..]));
    }
    let Some(entry) = TABLE.iter().find(|entry| names(entry).any(|known| known == name)) else {
        return match own::message(project, name, rest) {
            Some((message, file)) => Ok(Slash::Own { message, file }),
            None if word.chars().all(|c| c.is_ascii_alphabetic() || c == '-') => Err(unknown(name, project)),
            None => Ok(Slash::Message(line)),
        };
    };
    match (entry.argument, rest.trim()) {
        (Argument::Required, "") => Err(format!("{name} needs an argument: {name} {}", entry.usage)),
        (Argument::None, rest) if !rest.is_empty() => {
            Err(format!("{name} takes no argument, but got `{}`", sanitized_line(rest)))
        }
        (_, rest) => Ok(Slash::Command(entry.kind, rest)),
    }
}

/// Returns the table for completion.
pub(super) fn command_names(project: &Project) -> Vec<CommandName> {
    let row = |entry: &'static Entry| {
        names(entry).map(|name| CommandName {
            name: name.into(),
            arguments: entry.usage.into(),
            help: entry.help.into(),
            takes_file: matches!(entry.kind, Kind::Save | Kind::Load | Kind::AddDir),
        })
    };
    TABLE.iter().flat_map(row).chain(own::commands(project)).collect()
}

/// Returns the text of `/help`.
pub(super) fn help(project: &Project) -> String {
    let of_entry = |entry: &Entry| {
        let names = names(entry).collect::<Vec<_>>().join(", ");
        row(&format!("{names} {}", entry.usage), entry.help)
    };
    TABLE
        .iter()
        .map(of_entry)
        .chain(["\n".to_owned(), own::help(project), INPUT.to_owned()])
        .collect()
}

fn unknown(name: &str, project: &Project) -> String {
    let own = own::commands(project);
    let mut known: Vec<&str> = TABLE.iter().flat_map(names).collect();
    known.extend(own.iter().map(|command| &*command.name));
    let near = nearest(name, known);
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
            assert_eq!(
                parse(line, &Project::default()),
                Ok(Slash::Command(kind, argument)),
                "{line}"
            );
        };
        command("/model", Kind::Model, "");
        command("/model  gpt-5 ", Kind::Model, "gpt-5");
        command("/save my talk.json", Kind::Save, "my talk.json");
        command("/resume 0199", Kind::Resume, "0199");
        command("/load a", Kind::Load, "a");
        command("/quit", Kind::Exit, "");
        command("/compact the names of people", Kind::Compact, "the names of people");
        let message =
            |line: &str, text: &str| assert_eq!(parse(line, &Project::default()), Ok(Slash::Message(text)), "{line}");
        message("/etc/passwd is a file", "/etc/passwd is a file");
        message("/tmp.txt", "/tmp.txt");
        message("/字", "/字");
        message("//help", "/help");
        message("//", "/");
    }

    #[test]
    fn reports_commands_that_cannot_run() {
        let error =
            |line: &str, expected: &str| assert_eq!(parse(line, &Project::default()).unwrap_err(), expected, "{line}");
        error(
            "/modle x",
            "unknown command /modle; did you mean `/model`? /help lists the commands; to send it as a message, type //modle",
        );
        error(
            "/weather",
            "unknown command /weather. /help lists the commands; to send it as a message, type //weather",
        );
        error("/save", "/save needs an argument: /save FILE");
        error("/cost now", "/cost takes no argument, but got `now`");
    }

    #[test]
    fn help_and_completion_name_every_command_once() {
        let project = Project::default();
        let (help, names) = (help(&project), command_names(&project));
        for command in &names {
            assert!(
                help.contains(&*command.name) && help.contains(&*command.help),
                "{}",
                command.name
            );
            assert_eq!(names.iter().filter(|other| other.name == command.name).count(), 1);
        }
        assert!(help.lines().chain(KEYS.lines()).all(|line| line.chars().count() <= 100));
    }
}
