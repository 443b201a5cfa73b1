//! Reads keys, without showing them.

use std::io::{self, ErrorKind, IsTerminal};

use agcore::llm::credential::Secret;
use agcore_settings::vendor::unquoted;
use rpassword::ConfigBuilder;
use tokio::task::spawn_blocking;

use super::reader::read_stdin;
use crate::{exit::Failure, stdout::print_list};

/// The longest key, in bytes.
const MAX_KEY: usize = 16 * 1024;

/// Reads a key from standard input. At a terminal, a prompt is shown on standard error and the key is not.
///
/// # Errors
/// When Ctrl-C was pressed, or the input is not a key.
pub(crate) async fn read_key(prompt: &str) -> Result<Secret, Failure> {
    let text = match io::stdin().is_terminal() {
        true => ask(prompt).await?,
        false => read_stdin().await?,
    };
    parse(&text).map_err(Failure::usage)
}

/// Asks for a key at the terminal until the answer can be one. An empty answer means none.
///
/// # Errors
/// When Ctrl-C was pressed, or the terminal cannot be read.
pub(crate) async fn ask_key(prompt: &str) -> Result<Option<Secret>, Failure> {
    loop {
        let text = ask(prompt).await?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        match parse(&text) {
            Ok(key) => return Ok(Some(key)),
            Err(problem) => print_list(&format!("  {problem}\n"))?,
        }
    }
}

async fn ask(prompt: &str) -> Result<String, Failure> {
    let prompt = prompt.to_owned();
    let read = move || {
        let config = ConfigBuilder::new()
            .output_writer(io::stderr())
            .password_feedback_hide();
        rpassword::prompt_password_with_config(prompt, config.build())
    };
    match spawn_blocking(read).await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => Err(Failure::cancelled()),
        Ok(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => Err(Failure::usage("no key was entered")),
        Ok(Err(error)) => Err(Failure::task(format!("cannot read from the terminal: {error}"))),
        Err(_) => Err(Failure::cancelled()),
    }
}

/// Checks that a text can be a key: it is sent in a header. The error never contains the text.
fn parse(text: &str) -> Result<Secret, String> {
    let text = text.trim();
    let problem = if text.is_empty() {
        "it is empty"
    } else if text.len() > MAX_KEY {
        "it is too long"
    } else if text.lines().count() > 1 {
        "it has several lines"
    } else if !text.chars().all(|c| c.is_ascii_graphic()) {
        "it contains a space or a character that no key contains"
    } else {
        let key = Secret::from(text);
        return Ok(unquoted(&key).unwrap_or(key));
    };
    Err(format!(
        "this is not an API key: {problem}; copy the key without other text"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_sent_is_a_key() {
        assert_eq!(parse(" sk-1_a.b/c=\r\n").unwrap().expose(), "sk-1_a.b/c=");
        assert_eq!(parse("\"sk-1\"\n").unwrap().expose(), "sk-1");
        let long = "s".repeat(MAX_KEY + 1);
        for (text, problem) in [
            ("", "empty"),
            (" \n", "empty"),
            ("sk-1\nsk-2", "several lines"),
            ("OPENAI_API_KEY = sk-1", "a space"),
            ("sk-ключ", "a character"),
            ("sk-\u{1b}[31m", "a character"),
            (&long, "too long"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(problem) && !error.contains("sk-"), "{error}");
        }
    }
}
