//! Parsers: one for each format.

#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "docx")]
mod docx;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "markdown")]
mod markdown;
#[cfg(feature = "pdf")]
mod pdf;
#[cfg(any(feature = "csv", feature = "xlsx"))]
mod preamble;
#[cfg(feature = "text")]
mod text;
#[cfg(feature = "xlsx")]
mod xlsx;

use crate::{kind::FileKind, preprocessed::Preprocessed, problem::FileProblem, work::Work};

/// A function that reads a format.
pub(crate) type Parser = fn(&Work<'_>) -> Result<Preprocessed, FileProblem>;

/// Returns the parser of a format, if its feature is enabled.
pub(crate) fn parser(kind: FileKind) -> Option<Parser> {
    match kind {
        #[cfg(feature = "text")]
        FileKind::Text => Some(text::parse),
        #[cfg(feature = "markdown")]
        FileKind::Markdown => Some(markdown::parse),
        #[cfg(feature = "html")]
        FileKind::Html => Some(html::parse),
        #[cfg(feature = "json")]
        FileKind::Json => Some(json::parse),
        #[cfg(feature = "csv")]
        FileKind::Csv => Some(csv::parse_csv),
        #[cfg(feature = "csv")]
        FileKind::Tsv => Some(csv::parse_tsv),
        #[cfg(feature = "xlsx")]
        FileKind::Xlsx => Some(xlsx::parse),
        #[cfg(feature = "pdf")]
        FileKind::Pdf => Some(pdf::parse),
        #[cfg(feature = "docx")]
        FileKind::Docx => Some(docx::parse),
        _ => None,
    }
}
