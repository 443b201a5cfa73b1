//! Cuts files into parts with positions. Nothing here knows a store.

mod passages;
mod rows;
mod note;

use agcore_files::{FileKind, FilePreprocessor, FileProblem, FileProblemKind, OriginFile, Preprocessed};

pub(crate) use self::{
    note::{Note, read as read_note},
    passages::Part,
};

/// The parts of a file.
#[derive(Debug, Default)]
pub(crate) struct Cut {
    /// The title of the file, if it has one.
    pub(crate) title: Option<String>,
    pub(crate) parts: Vec<Part>,
    /// The parts that could not be read.
    pub(crate) warnings: Vec<String>,
}

/// The reason why a file has no parts.
#[derive(Debug)]
pub(crate) enum NoParts {
    /// The file is of a kind without text, such as a picture.
    NoText(String),
    /// The file cannot be read.
    Problem(FileProblem),
}

/// Reads a file. `title` replaces the title of the file.
pub(crate) async fn cut(
    preprocessor: &dyn FilePreprocessor,
    name: &str,
    title: Option<&str>,
    content: Vec<u8>,
) -> Result<Cut, NoParts> {
    let found = preprocessor.preprocess(&OriginFile::new(name), content).await;
    let found = found.map_err(NoParts::Problem)?;
    let own_title = found.documents.first().and_then(|document| document.title.clone());
    let file_name = name.rsplit('/').next().unwrap_or(name);
    let shown = title.or(own_title.as_deref()).unwrap_or(file_name);
    let mut parts = Vec::new();
    for document in &found.documents {
        let title = title.or(document.title.as_deref()).unwrap_or(file_name);
        parts.extend(passages::parts(document, title, 0));
    }
    for table in &found.tables {
        parts.extend(rows::parts(table, shown));
    }
    if parts.is_empty() {
        return Err(without_text(name, &found));
    }
    Ok(Cut {
        title: title.map(str::to_owned).or(own_title),
        parts,
        warnings: found
            .warnings
            .iter()
            .map(|warning| warning.message().to_owned())
            .collect(),
    })
}

/// Returns whether a file is a note: Markdown, or a plain text that is not the source of a program or a log.
pub(crate) fn is_note(name: &str, content: &[u8]) -> bool {
    match FileKind::detect(name, content) {
        FileKind::Markdown => true,
        FileKind::Text => {
            let file_name = name.rsplit('/').next().unwrap_or(name);
            let extension = file_name
                .rsplit_once('.')
                .map(|(_, extension)| extension.to_ascii_lowercase());
            matches!(extension.as_deref(), None | Some("txt" | "text"))
        }
        _ => false,
    }
}

/// Returns why a file without passages and tables has none.
fn without_text(name: &str, found: &Preprocessed) -> NoParts {
    let kind = found.other_files.iter().find_map(|file| file.media_type.as_deref());
    let advice = "convert pictures of text with a program that recognizes it";
    match kind {
        Some(kind) if kind.starts_with("image/") => NoParts::NoText(format!("it is a picture ({kind}); {advice}")),
        Some(kind) => NoParts::NoText(format!("it is of the kind {kind}, which has no text that can be read")),
        None if found.other_files.is_empty() => {
            let message = format!("it contains no text; {advice}");
            NoParts::Problem(FileProblem::new(name, FileProblemKind::Broken, message))
        }
        None => NoParts::NoText("it is not a text, and of no kind that can be read".to_owned()),
    }
}
