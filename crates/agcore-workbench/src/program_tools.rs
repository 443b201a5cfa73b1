//! The tools of the program: files of the current directory, a shell, and web pages.

mod secret;
mod file_name;
mod approved;
mod change;
mod undo;
mod unasked;
mod guarded;
mod open_files;
mod folder;
mod text_file;
mod read_file;
mod list_files;
mod search;
mod edit_file;
mod write_file;
mod restore;
mod preview;
pub(crate) mod shell;
mod fetch_url;
mod of_settings;

#[cfg(feature = "mcp")]
pub(crate) use self::of_settings::command_sandbox;
pub use self::{
    change::FileEdit,
    fetch_url::WebAccess,
    folder::ToolFolder,
    guarded::EACH_TIME,
    open_files::OpenFiles,
    preview::{Preview, Previews},
    restore::{Restored, restore},
};
pub(crate) use self::{
    fetch_url::FETCH_URL,
    guarded::{only_reads, reading_commands},
};

use agcore::tools::{ToolError, ToolRegistry};

use crate::sample_tools;

/// Creates all tools of a chat: those of [a folder](folder_registry), a clock, arithmetic, and notes in the current directory.
///
/// # Errors
/// When two tools have the same name.
pub fn registry() -> Result<ToolRegistry, ToolError> {
    let tools = sample_tools::registry()?;
    register(&tools)?;
    Ok(tools)
}

/// Creates the tools for files and commands of a folder, and for web pages: `read_file`, `list_files`, `search`, `edit_file`,
/// `write_file`, `shell` and `fetch_url`. They need a [`ToolFolder`] and a [`WebAccess`] as state. Unregister the ones that an
/// agent must not have.
///
/// ```
/// use agcore_workbench::program_tools::folder_registry;
///
/// let tools = folder_registry()?;
/// tools.unregister("shell");
/// tools.unregister("fetch_url");
/// assert_eq!(tools.list().len(), 5);
/// # Ok::<(), agcore::tools::ToolError>(())
/// ```
///
/// # Errors
/// When two tools have the same name.
pub fn folder_registry() -> Result<ToolRegistry, ToolError> {
    let tools = ToolRegistry::new();
    register(&tools)?;
    Ok(tools)
}

fn register(tools: &ToolRegistry) -> Result<(), ToolError> {
    tools.register_all([
        read_file::tool(),
        list_files::tool(),
        search::tool(),
        edit_file::tool(),
        write_file::tool(),
        shell::tool(),
        fetch_url::tool(),
    ])
}
