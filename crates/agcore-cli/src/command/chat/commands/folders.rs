//! `/add-dir`: the folders that the tools may use.

use agcore_terminal::{render::sanitized_line, table::table};
use agcore_workbench::program_tools::ToolFolder;

use crate::{command::chat::conversation::Conversation, exit::Failure};

/// Adds a folder for this chat, or lists the folders.
///
/// # Errors
/// When the terminal was closed.
pub(super) fn add_dir(conversation: &Conversation, argument: &str) -> Result<(), Failure> {
    let (folder, screen) = (&conversation.folder, conversation.screen);
    if argument.is_empty() {
        return screen.list(&table(&folders(folder)));
    }
    match folder.add_typed(argument) {
        Ok(note) => screen.note(&note),
        Err(error) => screen.error(&error),
    }
}

/// Returns a row for each folder.
pub(super) fn folders(folder: &ToolFolder) -> Vec<[String; 2]> {
    let shown = |path: &std::path::Path| sanitized_line(&path.display().to_string());
    let further = folder.further();
    let further = further.iter().map(|path| ["further folder".to_owned(), shown(path)]);
    [["folder".to_owned(), shown(folder.path())]]
        .into_iter()
        .chain(further)
        .collect()
}
