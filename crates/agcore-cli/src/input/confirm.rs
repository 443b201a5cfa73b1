//! A question whose answer is yes or no.

use agcore_terminal::console::{Console, Line};

use crate::{exit::Failure, stdout::print};

/// Asks until the answer is yes or no. Enter alone means `default`, if there is one. Returns `None` if the user presses Ctrl-C, Ctrl-D or
/// Esc instead.
///
/// # Errors
/// When the terminal cannot be read or written.
pub(crate) async fn confirm(console: &Console, prompt: &str, default: Option<bool>) -> Result<Option<bool>, Failure> {
    loop {
        let Line::Entered(word) = console.read_line(prompt).await? else {
            return Ok(None);
        };
        match (word.to_lowercase().as_str(), default) {
            ("y" | "yes", _) => return Ok(Some(true)),
            ("n" | "no", _) => return Ok(Some(false)),
            ("", Some(default)) => return Ok(Some(default)),
            _ => print("  Type y or n.\n")?,
        }
    }
}
