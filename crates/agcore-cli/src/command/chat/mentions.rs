//! `@path` and `@server:uri`: attaches files, and resources of MCP servers, to a message.

use agcore::chat::Content;
use agcore_terminal::{process::expand_home, render::sanitized_line};
use agcore_workbench::mcp::Servers;

use super::commands::mcp::{self, Resource};
use crate::input::attachments::Attachments;

/// A message with its attachments.
#[derive(Debug, PartialEq)]
pub(super) struct Attached {
    /// The content to send.
    pub(super) content: Content,
    /// One line for each attachment, for the user.
    pub(super) notes: Vec<String>,
}

/// A piece of a message.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A path, and whether it was quoted.
    Mention(String, bool),
}

/// Reads the files, and the resources of MCP servers, that a message mentions.
///
/// # Errors
/// When one of them cannot be attached. The message must then not be sent.
pub(super) async fn attach(message: &str, servers: &Servers) -> Result<Attached, String> {
    let (mut text, mut attachments, mut notes) = (String::new(), Attachments::default(), Vec::new());
    for piece in pieces(message) {
        let (name, is_quoted) = match piece {
            Piece::Text(piece) => {
                text.push_str(&piece);
                continue;
            }
            Piece::Mention(name, is_quoted) => (name, is_quoted),
        };
        text.push_str(&format!("@{name}"));
        if let Some((client, uri)) = mcp::mentioned(servers, &name) {
            let resources = mcp::read(client, uri).await;
            for resource in resources.map_err(|error| refusal(&name, &error))? {
                let note = match resource {
                    Resource::Text(block, note) => {
                        attachments.push_block(&block);
                        note
                    }
                    Resource::Image(image, note) => {
                        attachments.push_image(image);
                        note
                    }
                };
                notes.push(format!("Attached {}: {note}", sanitized_line(&name)));
            }
            continue;
        }
        let path = expand_home(&name);
        if !is_quoted && !path.exists() && !name.contains(['/', '.', '\\']) {
            notes.push(format!("@{} is not a file; it was sent as text", sanitized_line(&name)));
            continue;
        }
        let note = attachments.read(&name, &path).map_err(|error| refusal(&name, &error))?;
        notes.push(format!("Attached {}: {note}", sanitized_line(&name)));
    }
    let content = attachments.into_content(text);
    Ok(Attached { content, notes })
}

fn refusal(name: &str, error: &str) -> String {
    let name = sanitized_line(name);
    format!("cannot attach {name}: {error}. The message was not sent; to send the name as text, type @@{name}")
}

/// Splits a message into text and mentions. A mention starts where no word ends, and `@@` is a plain `@`.
fn pieces(message: &str) -> Vec<Piece> {
    let (mut pieces, mut text) = (Vec::new(), String::new());
    let mut rest = message;
    while let Some(at) = rest.find('@') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let continues_word = text.ends_with(|c: char| c.is_ascii_alphanumeric() || "_.-+/".contains(c));
        if let Some(after) = rest.strip_prefix('@').filter(|_| !continues_word) {
            text.push('@');
            rest = after;
            continue;
        }
        let Some((name, length)) = name(rest).filter(|_| !continues_word) else {
            text.push('@');
            continue;
        };
        pieces.push(Piece::Text(std::mem::take(&mut text)));
        pieces.push(Piece::Mention(name.to_owned(), rest.starts_with('"')));
        rest = &rest[length..];
    }
    text.push_str(rest);
    pieces.push(Piece::Text(text));
    pieces
}

/// Returns the name at the start of the text and the length of the mention. Punctuation after a name does not belong to it,
/// unless there is such a file.
fn name(text: &str) -> Option<(&str, usize)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let name = quoted
            .split_once('"')
            .map(|(name, _)| name)
            .filter(|name| !name.is_empty())?;
        return Some((name, name.len() + 2));
    }
    let word = text.split(char::is_whitespace).next().unwrap_or_default();
    let mut name = word;
    while !expand_home(name).exists() {
        let Some(last) = name
            .chars()
            .next_back()
            .filter(|c| !c.is_ascii_alphanumeric() && *c != '/')
        else {
            break;
        };
        name = &name[..name.len() - last.len_utf8()];
    }
    // Words of languages without spaces may follow: 看 @src/main.rs吧
    (!name.is_empty()).then_some((name, name.len()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use agcore::chat::ContentPart;

    use super::*;

    #[test]
    fn finds_mentions() {
        let check = |message: &str, expected: &[&str]| {
            let mentions = pieces(message).into_iter().filter_map(|piece| match piece {
                Piece::Mention(name, _) => Some(name),
                Piece::Text(_) => None,
            });
            assert_eq!(mentions.collect::<Vec<_>>(), expected, "{message}");
        };
        check("see @a.md and @\"b c.md\".", &["a.md", "b c.md"]);
        check("(@a.md), @b.md!", &["a.md", "b.md"]);
        check("看@a.md。", &["a.md"]);
        check("ann@example.org, a@b", &[]);
        check("@@a.md @ @\"\" @\"open", &[]);
        check("@~/x", &["~/x"]);
    }

    #[tokio::test]
    async fn attaches_text_and_images_and_refuses_the_rest() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("a b.md"), "one\ntwo").unwrap();
        fs::write(path("i.png"), b"\x89PNG\r\n\x1a\nxx").unwrap();
        fs::write(path("bin"), b"a\0b").unwrap();
        fs::write(path("big"), vec![b'x'; 300_000]).unwrap();

        let name = path("a b.md");
        let attach = |message: String| async move { attach(&message, &Servers::default()).await };
        let attached = attach(format!("read @\"{name}\" and @@me")).await.unwrap();
        let expected = format!("read @{name} and @me\n\n<file path=\"{name}\">\none\ntwo\n</file>");
        assert_eq!(attached.content.text(), expected);
        assert_eq!(attached.notes, [format!("Attached {name}: 2 lines, 7 B")]);

        let attached = attach(format!("@{}", path("i.png"))).await.unwrap();
        let Content::Parts(parts) = attached.content else {
            panic!()
        };
        assert!(
            matches!(&parts[..], [ContentPart::Text(_), ContentPart::ImageUrl(_)]),
            "{parts:?}"
        );

        for (name, expected) in [
            ("bin", "neither UTF-8 text nor"),
            ("big", "larger than 256.0 KB"),
            ("gone.md", "there is no such file"),
            ("", "it is a folder"),
        ] {
            let error = attach(format!("@{}", path(name))).await.unwrap_err();
            assert!(error.contains(expected) && error.contains("was not sent"), "{error}");
        }
        if cfg!(unix) {
            assert!(
                attach("@/dev/null".to_owned())
                    .await
                    .unwrap_err()
                    .contains("it is not a regular file")
            );
        }
        let sent = attach("@Override is Java".to_owned()).await.unwrap();
        assert_eq!(sent.content.text(), "@Override is Java");
        assert_eq!(sent.notes, ["@Override is not a file; it was sent as text"]);
    }
}
