//! [`Chunk`]: a file in a document whose text is part of it.

use std::collections::HashMap;

use super::{mail, relations::Relations};
use crate::{archive::Archive, decode::decode_text, problem::FileProblem};

/// The content of a file in a document.
#[derive(Debug)]
pub(super) enum Chunk {
    Html(String),
    Text(String),
    /// A file of another kind, which is not read.
    Other(String),
}

/// Reads all files in a document, by the ids with which its text refers to them.
pub(super) fn all(archive: &mut Archive<'_>, relations: &Relations) -> Result<HashMap<String, Chunk>, FileProblem> {
    let mut chunks = HashMap::new();
    for (id, part) in relations.all_of_kind("aFChunk") {
        let Some(content) = archive.bytes(part)? else {
            continue;
        };
        chunks.insert(id.to_owned(), read(part, &content));
    }
    Ok(chunks)
}

fn read(part: &str, content: &[u8]) -> Chunk {
    let extension = part
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref().unwrap_or_default() {
        "htm" | "html" | "xhtml" => Chunk::Html(decode_text(content, "text/html")),
        "mht" | "mhtml" | "eml" => match mail::html(content) {
            Some(text) => Chunk::Html(text),
            None => Chunk::Other("a saved web page without text".to_owned()),
        },
        "txt" => Chunk::Text(decode_text(content, "text/plain")),
        extension if extension.chars().all(char::is_alphanumeric) && extension.len() <= 8 => {
            Chunk::Other(format!("a file of the kind {extension:?}"))
        }
        _ => Chunk::Other("a file of an unknown kind".to_owned()),
    }
}
