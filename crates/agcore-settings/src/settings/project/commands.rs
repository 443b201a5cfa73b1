//! [`MessageCommand`]: messages in files, which the user sends by their names.

use std::path::Path;

use agcore_document::FrontMatter;
use serde::Deserialize;

/// The longest name, in bytes.
const MAX_NAME: usize = 64;

/// The largest file, in bytes.
const MAX_TEXT: usize = 64 * 1024;

/// The longest description that is taken from the message, in characters.
const MAX_DESCRIPTION: usize = 80;

/// A message in a file `NAME.md`, which `/NAME` sends in a chat.
///
/// The message may have places for what the user types after the name: `$ARGUMENTS` for all of it, and `$1` to `$9` for its words,
/// of which those in double quotes count as one. Without such a place, it is added at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageCommand {
    /// The name, without the slash.
    pub name: String,
    /// The description for lists, from the front matter or the first line of the message.
    pub description: String,
    /// The arguments, as shown to users.
    pub arguments: String,
    /// The path of the file.
    pub file: String,
    text: String,
}

/// The members of the front matter. Others, such as those of other programs, have no effect.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    description: String,
    #[serde(rename = "argument-hint", alias = "argument_hint")]
    arguments: String,
}

impl MessageCommand {
    /// Parses a file. Returns `None` for files of other formats.
    ///
    /// # Errors
    /// When its name cannot be typed as a command, its front matter is invalid, or it has no message or too long a one.
    pub(super) fn parse(file: &str, text: &str) -> Result<Option<Self>, String> {
        let path = Path::new(file);
        if path.extension().is_none_or(|extension| extension != "md") {
            return Ok(None);
        }
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) {
            return Err(format!(
                "the name of the file must have 1 to {MAX_NAME} letters, digits, `-` and `_`"
            ));
        }
        if text.len() > MAX_TEXT {
            return Err(format!("it has more than {} KiB", MAX_TEXT / 1024));
        }
        let (head, body) = split(text)?;
        let body = body.trim();
        let Some(first) = body.lines().next() else {
            return Err("it has no message; write one below the front matter".to_owned());
        };
        let first = first.trim_start_matches(['#', ' ']);
        let description = match head.description.trim() {
            "" => first.chars().take(MAX_DESCRIPTION).collect(),
            description => description.to_owned(),
        };
        Ok(Some(Self {
            name: name.to_owned(),
            description,
            arguments: head.arguments.trim().to_owned(),
            file: file.to_owned(),
            text: body.to_owned(),
        }))
    }

    /// Returns the message with what the user has typed after the name.
    pub fn message(&self, typed: &str) -> String {
        let (typed, words) = (typed.trim(), words(typed));
        let (mut message, mut rest, mut is_placed) = (String::new(), self.text.as_str(), false);
        while let Some((before, place)) = rest.split_once('$') {
            message += before;
            // What is typed has no places.
            match filled(place, typed, &words) {
                Some((text, after)) => {
                    message += text;
                    (rest, is_placed) = (after, true);
                }
                None => {
                    message.push('$');
                    rest = place;
                }
            }
        }
        message += rest;
        if !is_placed && !typed.is_empty() {
            message = format!("{message}\n\n{typed}");
        }
        message
    }
}

/// Returns what belongs to the place whose name is at the beginning, and the text after it.
fn filled<'t>(place: &'t str, typed: &'t str, words: &'t [String]) -> Option<(&'t str, &'t str)> {
    let length = place.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let (name, after) = place.split_at(length.unwrap_or(place.len()));
    let text = match name {
        "ARGUMENTS" => typed,
        name => match name.parse::<usize>().ok()? {
            number @ 1..=9 if name.len() == 1 => words.get(number - 1).map_or("", String::as_str),
            _ => return None,
        },
    };
    Some((text, after))
}

fn split(text: &str) -> Result<(Head, &str), String> {
    let Some(front) = FrontMatter::split(text).map_err(|error| error.to_string())? else {
        return Ok((Head::default(), text.trim_start_matches('\u{feff}')));
    };
    let head = front.parse().and_then(|root| root.read());
    let head = head.map_err(|error| front.describe(&error))?;
    Ok((head, front.body))
}

/// Splits a text at spaces that are not in double quotes.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), None::<String>, false);
    for c in text.chars() {
        match c {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !is_quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> MessageCommand {
        MessageCommand::parse(".agcore/commands/fix.md", text).unwrap().unwrap()
    }

    #[test]
    fn the_front_matter_describes_the_message() {
        let found = command("---\ndescription: Fixes an issue\nargument-hint: NUMBER\nmodel: other\n---\nFix it.\n");
        assert_eq!(
            (&*found.name, &*found.description, &*found.arguments),
            ("fix", "Fixes an issue", "NUMBER")
        );
        assert_eq!(found.message(""), "Fix it.");
        let found = command("\u{feff}# Fix an issue\n\nNumber $1.");
        assert_eq!((&*found.description, &*found.arguments), ("Fix an issue", ""));
        assert_eq!(command(&"字".repeat(200)).description, "字".repeat(MAX_DESCRIPTION));
    }

    #[test]
    fn typed_text_fills_the_places_once() {
        let check = |text: &str, typed: &str, expected: &str| {
            assert_eq!(command(text).message(typed), expected, "{text}");
        };
        check("Fix $ARGUMENTS now.", " a  b ", "Fix a  b now.");
        check("$2 before $1", "one \"two 三\" four", "two 三 before one");
        check("Fix $1.", "", "Fix .");
        check("Fix.", "it", "Fix.\n\nit");
        check(
            "It costs $12, $0, $x, $, $ARGUMENTS_2.",
            "",
            "It costs $12, $0, $x, $, $ARGUMENTS_2.",
        );
        check("$1 $ARGUMENTS", "$ARGUMENTS $2", "$ARGUMENTS $ARGUMENTS $2");
        check("[$1]", "\"\" b", "[]");
    }

    #[test]
    fn files_without_a_command_are_reported() {
        let problem = |file: &str, text: &str| MessageCommand::parse(file, text).unwrap_err();
        assert!(problem("a b.md", "x").contains("letters, digits"));
        assert!(problem("字.md", "x").contains("letters, digits"));
        assert!(problem("a.md", "---\ndescription: x\n---\n \n").contains("no message"));
        assert!(problem("a.md", "").contains("no message"));
        assert!(problem("a.md", "---\ndescription: [\n---\nx").contains("front matter"));
        assert!(problem("a.md", &"a".repeat(MAX_TEXT + 1)).contains("64 KiB"));
        assert_eq!(MessageCommand::parse("README.txt", "x"), Ok(None));
        assert_eq!(MessageCommand::parse("md", "x"), Ok(None));
    }
}
