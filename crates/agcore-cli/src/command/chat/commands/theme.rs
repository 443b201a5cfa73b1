//! `/theme`: the styles of the output.

use agcore_settings::places::user_settings;
use agcore_terminal::{render::Theme, table::table};

use crate::command::chat::conversation::Conversation;
use crate::exit::Failure;

/// Lists the themes, or changes the theme of this chat.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) fn theme(conversation: &mut Conversation, name: &str) -> Result<(), Failure> {
    let screen = conversation.screen;
    if !screen.palette.is_colored {
        return screen.note("Colors are disabled, so that there are no themes; `agcore doctor` shows the reason.");
    }
    if name.is_empty() {
        return screen.list(&listed(screen.palette.theme));
    }
    let theme = match Theme::named(name) {
        Ok(theme) => theme,
        Err(error) => return screen.error(&format!("there is no such theme; {error}")),
    };
    conversation.screen.palette = screen.palette.with_theme(theme);
    conversation.turns.screen = conversation.screen;
    let place = user_settings().map_or_else(|| "agcore.toml".to_owned(), |file| file.display().to_string());
    conversation.screen.note(&format!(
        "Theme: {0}. To keep it for other chats, write `theme = \"{0}\"` in {place}.",
        theme.as_str()
    ))
}

fn listed(current: Theme) -> String {
    let row = |(theme, description): (Theme, &str)| {
        let mark = if theme == current { "*" } else { " " };
        [format!("{mark} {}", theme.as_str()), description.to_owned()]
    };
    table(&Theme::ALL.map(row)) + "/theme NAME changes it; /theme auto fits the terminal.\n"
}
