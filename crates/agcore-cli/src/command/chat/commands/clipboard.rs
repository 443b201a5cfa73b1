//! `/copy`: copies the last answer.

use agcore_terminal::{clipboard::copy_sequence, console::Console, size::extent};

use crate::command::chat::conversation::Conversation;
use crate::exit::Failure;

/// The size up to which all common terminals accept a text.
const SAFE: usize = 74_000;

/// Asks the terminal to copy the last answer to the clipboard (OSC 52), which also works over SSH.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn copy(conversation: &Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    let messages = conversation.session.messages().await;
    let answers = messages.iter().rev().filter_map(|message| message.as_assistant());
    let Some(text) = answers.map(|answer| answer.text()).find(|text| !text.trim().is_empty()) else {
        return screen.error("there is no answer to copy yet");
    };
    if !Console::reads_keys() {
        return screen.error("this terminal cannot copy text (TERM=dumb)");
    }
    screen.print(&copy_sequence(&text))?;
    let doubt = match text.len() > SAFE {
        true => " Some terminals refuse a text of this size.",
        false => "",
    };
    let extent = extent(&text);
    screen.note(&format!(
        "The last answer ({extent}) was sent to the terminal's clipboard (OSC 52).{doubt} If nothing arrives, allow \
         clipboard access in the settings of the terminal; in tmux: `set -g set-clipboard on`."
    ))
}
