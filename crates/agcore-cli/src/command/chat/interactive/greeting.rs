//! The first lines of a chat.

use agcore_settings::{Settings, vendor::redacted_url};
use agcore_terminal::{console::Console, render::sanitized_line};

use crate::{
    command::chat::{conversation::Conversation, screen::Screen, slash},
    exit::Failure,
    input::history::history_file,
};

/// Loads what was entered in earlier chats.
///
/// # Errors
/// When the terminal was closed.
pub(super) fn load_history(console: &Console, screen: Screen) -> Result<(), Failure> {
    let loaded = match history_file() {
        Ok(Some(file)) => console.load_history(file),
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    match loaded {
        Ok(()) => Ok(()),
        Err(error) => screen.note(&format!("The history is not saved: {error}")),
    }
}

/// Shows what the chat begins with.
///
/// # Errors
/// When the terminal was closed.
pub(super) fn greet(settings: &Settings, conversation: &Conversation) -> Result<(), Failure> {
    let (screen, servers) = (conversation.screen, &conversation.tools.servers);
    let model = sanitized_line(&conversation.model);
    screen.note(&format!("Model: {model} ({})", conversation.provider))?;
    for line in settings.context_files.notes() {
        screen.note(&line)?;
    }
    for line in slash::hidden(&conversation.tools.project) {
        screen.note(&line)?;
    }
    let names: Vec<String> = servers.connected().map(sanitized_line).collect();
    if !names.is_empty() {
        screen.note(&format!("MCP servers: {}", names.join(", ")))?;
    }
    screen.note("/help lists the commands, ? the keys; Ctrl-C cancels a turn, Ctrl-D exits.")
}

/// Returns the provider, and the base URL if one is set.
pub(super) fn provider(settings: &Settings) -> String {
    let provider = &settings.provider;
    let place = provider
        .base_url
        .as_ref()
        .map(|url| format!(" at {}", redacted_url(url)));
    format!("{}{}", provider.name(), place.unwrap_or_default())
}
