//! [`Prepared`]: a file that was read, before it is saved.

use std::fmt::Write;

use agcore_chat::Actor;
use agcore_files::{FilePreprocessor, FileProblem, FileProblemKind};
use agcore_memory::knowledge::{KnowledgePage, KnowledgeSource, PageSource};

use sha2::{Digest, Sha256};

use crate::cut::{NoParts, Note, Part, cut, is_note, read_note};

/// Changes whenever files are cut in another way, so that all of them are read again.
const VERSION: &str = "1";

/// The names under which a file is saved, and what its pages get in addition.
#[derive(Debug, Clone)]
pub(crate) struct Naming {
    /// The id of the source.
    pub(crate) source: String,
    /// The path of the file.
    pub(crate) location: Option<String>,
    /// The id of the page, or the beginning of the ids of several.
    pub(crate) page: String,
    pub(crate) title: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) owner: Actor,
}

impl Naming {
    fn fingerprint(&self, content: &[u8]) -> String {
        let title = self.title.as_deref().unwrap_or_default();
        let texts = [self.source.as_str(), self.page.as_str(), title];
        fingerprint(content, texts.into_iter().chain(self.tags.iter().map(String::as_str)))
    }

    fn record(&self, fingerprint: String) -> KnowledgeSource {
        let mut source = KnowledgeSource::new(self.source.as_str(), fingerprint).with_owner(self.owner.clone());
        source.location.clone_from(&self.location);
        source
    }

    fn page(&self, id: String, part: Part, source: &str) -> KnowledgePage {
        let position = PageSource::new(source, part.position);
        let mut page = KnowledgePage::new(id, part.title, part.text).with_source(position);
        page.summary = page.citation().to_string();
        page
    }

    fn finished(&self, page: KnowledgePage) -> KnowledgePage {
        let page = page.with_owner(self.owner.clone());
        self.tags.iter().fold(page, KnowledgePage::with_tag)
    }
}

/// A file that was read.
#[derive(Debug)]
pub(crate) enum Prepared {
    /// The record and the pages to save.
    Pages(Box<KnowledgeSource>, Vec<KnowledgePage>),
    /// It has the fingerprint that it had before.
    Unchanged,
    /// It is of a kind without text.
    NoText(String),
    /// It cannot be read. The record is to be saved, unless it is not known whether the content has changed.
    Problem(Box<KnowledgeSource>, FileProblem),
    /// It no longer exists.
    Gone,
}

/// Reads a file whose content is known. `known` is its record of an earlier time.
pub(crate) async fn prepare(
    preprocessor: &dyn FilePreprocessor,
    naming: &Naming,
    content: Vec<u8>,
    known: Option<&KnowledgeSource>,
) -> Prepared {
    let mut source = naming.record(naming.fingerprint(&content));
    source.bytes = content.len() as u64;
    if known.is_some_and(|known| known.fingerprint == source.fingerprint && known.location == source.location) {
        return Prepared::Unchanged;
    }
    if is_note(&naming.source, &content) {
        return match read_note(preprocessor, &naming.source, &naming.page, &content).await {
            Ok(note) => {
                let title = naming.title.clone().unwrap_or_else(|| note.page.title.clone());
                source.title = Some(title);
                let pages = pages_of_note(naming, note);
                Prepared::Pages(Box::new(source), pages)
            }
            Err(reason) => problem(
                source,
                FileProblem::new(&naming.source, FileProblemKind::Broken, reason),
            ),
        };
    }
    match cut(preprocessor, &naming.source, naming.title.as_deref(), content).await {
        Ok(found) => {
            source.title = found.title;
            source.warnings = found.warnings;
            let pages = numbered(naming, found.parts, |page| naming.finished(page));
            Prepared::Pages(Box::new(source), pages)
        }
        Err(NoParts::NoText(reason)) => Prepared::NoText(reason),
        Err(NoParts::Problem(found)) => problem(source, found),
    }
}

/// Returns the result for a file that cannot be read. Problems that may be gone the next time are tried again.
pub(crate) fn problem(mut source: KnowledgeSource, problem: FileProblem) -> Prepared {
    if !matches!(problem.kind(), FileProblemKind::Broken | FileProblemKind::Encrypted) {
        source.fingerprint = String::new();
    }
    source.problem = Some(problem.message().to_owned());
    Prepared::Problem(Box::new(source), problem)
}

/// Returns the result for a file whose content could not be read.
pub(crate) fn unreadable(naming: &Naming, found: FileProblem) -> Prepared {
    problem(naming.record(String::new()), found)
}

fn pages_of_note(naming: &Naming, note: Note) -> Vec<KnowledgePage> {
    let mut whole = note.page;
    if let Some(title) = &naming.title {
        whole.title.clone_from(title);
    }
    if note.parts.len() < 2 {
        let place = PageSource::new(naming.source.as_str(), note.position);
        return vec![naming.finished(whole.with_source(place))];
    }
    let naming = Naming {
        page: whole.id.clone(),
        ..naming.clone()
    };
    // The parts have the tags and references of the note.
    numbered(&naming, note.parts, |part| {
        let mut page = whole.clone();
        (page.id, page.title, page.content) = (part.id, part.title, part.content);
        (page.summary, page.source) = (part.summary, part.source);
        naming.finished(page)
    })
}

fn numbered(naming: &Naming, parts: Vec<Part>, finish: impl Fn(KnowledgePage) -> KnowledgePage) -> Vec<KnowledgePage> {
    let page = |(number, part): (usize, Part)| {
        finish(naming.page(format!("{}/{:04}", naming.page, number + 1), part, &naming.source))
    };
    parts.into_iter().enumerate().map(page).collect()
}

/// Returns the fingerprint of a content that is read with these options.
fn fingerprint(content: &[u8], options: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut hash = Sha256::new();
    let mut add = |option: &str| {
        hash.update(option.len().to_le_bytes());
        hash.update(option);
    };
    add(VERSION);
    options.into_iter().for_each(|option| add(option.as_ref()));
    hash.update(content);
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn content_and_options_decide() {
        let first = fingerprint(b"content", ["a", "b"]);
        assert_eq!(first, fingerprint(b"content", ["a", "b"]));
        assert_eq!(first.len(), 64);
        for other in [
            fingerprint(b"Content", ["a", "b"]),
            fingerprint(b"content", ["ab"]),
            fingerprint(b"content", ["ab", ""]),
            fingerprint(b"bcontent", ["a"]),
        ] {
            assert_ne!(first, other);
        }
    }
}
