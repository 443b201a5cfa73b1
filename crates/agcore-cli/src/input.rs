//! The message of a single turn: the prompt and standard input.

mod reader;
mod block;
pub(crate) mod attachments;
pub(crate) mod history;
pub(crate) mod secret_input;

use std::io::{self, IsTerminal, Write};

use agcore_terminal::console::{Console, Line};

use self::{
    block::with_input,
    reader::{SILENCE, read_unless_silent},
};
use crate::{exit::Failure, stdout::print};

pub(crate) use self::reader::{arrives, read_stdin};

/// Returns the message: the prompt followed by standard input as a named block. Without a prompt, or if it is `-`, the
/// message is standard input alone.
///
/// # Errors
/// When the message is empty, or standard input cannot be read, is not UTF-8 or is too long.
pub(crate) async fn message(prompt: Option<&str>) -> Result<String, Failure> {
    match prompt {
        None if io::stdin().is_terminal() => Err(Failure::usage(
            "a message is needed: pass one as an argument or on standard input",
        )),
        None | Some("-") => Ok(non_empty(&read_stdin().await?)?.to_owned()),
        Some(prompt) => {
            let prompt = non_empty(prompt)?;
            Ok(with_input(prompt, &context().await?))
        }
    }
}

/// Reads what accompanies a prompt. A terminal is left alone, and so is a pipe on which nothing arrives: programs that
/// start this one often leave theirs open.
async fn context() -> Result<String, Failure> {
    if io::stdin().is_terminal() {
        return Ok(String::new());
    }
    if let Some(text) = read_unless_silent().await? {
        return Ok(text);
    }
    // If standard error cannot be written, the answer still can.
    let _ = writeln!(
        io::stderr(),
        "warning: nothing arrived on standard input within {} s; continuing without it. To wait for it, send the prompt \
         on standard input as well and pass `-` instead.",
        SILENCE.as_secs()
    );
    Ok(String::new())
}

/// Removes trailing white space from a message.
///
/// # Errors
/// When the message is empty.
fn non_empty(message: &str) -> Result<&str, Failure> {
    match message.trim_end() {
        "" => Err(Failure::usage("the message is empty; nothing was sent")),
        message => Ok(message),
    }
}

/// Asks until the answer is yes or no. Enter alone means `default`, if there is one. Returns `None` if the user presses Ctrl-C,
/// Ctrl-D or Esc instead.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_empty_messages_and_trims_the_end() {
        assert_eq!(non_empty(" a\n\n").unwrap(), " a");
        assert!(non_empty(" \n").is_err());
    }
}
