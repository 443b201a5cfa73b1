//! The commands that the user has in files: messages, and skills.

use std::borrow::Cow;

use agcore_settings::Project;
use agcore_terminal::{console::CommandName, render::sanitized_line};

use super::table::{COLUMN, TABLE, names, row};

/// Returns the message of a command in a file, with what was typed after its name, and where it is from. `None` if there is none.
pub(super) fn message(project: &Project, name: &str, typed: &str) -> Option<(String, String)> {
    let name = name.strip_prefix('/')?;
    if let Some(command) = project.command(name) {
        return Some((command.message(typed), command.file.clone()));
    }
    let skill = project.skills.get(name)?;
    let message = format!("Use the skill `{name}`.\n\n{}", typed.trim());
    Some((message.trim_end().to_owned(), skill.folder.display().to_string()))
}

/// Returns the commands in files, for completion: those that no command of the program hides.
pub(super) fn commands(project: &Project) -> Vec<CommandName> {
    let messages = project
        .commands
        .iter()
        .map(|command| known(&command.name, &command.arguments, &command.description));
    let skills = project.skills.list().iter();
    let skills = skills
        .filter(|skill| project.command(&skill.name).is_none())
        .map(|skill| known(&skill.name, "[TEXT]", &skill.description));
    messages
        .chain(skills)
        .filter(|command| !is_taken(&command.name))
        .collect()
}

/// Returns the part of `/help` about the commands in files.
pub(super) fn help(project: &Project) -> String {
    let rows: String = commands(project)
        .iter()
        .map(|command| row(&format!("{} {}", command.name, command.arguments), &command.help))
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!("{rows}\n"),
    }
}

/// Returns one sentence for each file that is not used because the program has a command with its name.
pub(in crate::command::chat) fn hidden(project: &Project) -> Vec<String> {
    let hidden = project
        .commands
        .iter()
        .filter(|command| is_taken(&format!("/{}", command.name)));
    hidden
        .map(|command| {
            let file = sanitized_line(&command.file);
            format!("{file} is not used: /{} is a command of the program", command.name)
        })
        .collect()
}

fn known(name: &str, arguments: &str, help: &str) -> CommandName {
    CommandName {
        name: Cow::Owned(format!("/{name}")),
        arguments: Cow::Owned(sanitized_line(arguments)),
        help: Cow::Owned(first_words(&sanitized_line(help))),
        takes_file: false,
    }
}

/// Shortens a description, so that it fits into a line of the list.
fn first_words(text: &str) -> String {
    let limit = 98 - COLUMN;
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
    }
}

fn is_taken(name: &str) -> bool {
    TABLE.iter().flat_map(names).any(|known| known == name)
}
