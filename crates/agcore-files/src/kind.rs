//! [`FileKind`]: the format of a file.

use std::fmt;

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// The number of bytes of a text that are inspected to detect its kind.
const SNIFFED_BYTES: usize = 4096;

/// The PDF specification allows other bytes before the header; readers search the first 1024.
const PDF_HEADER_BYTES: usize = 1024;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileKind {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// JSON.
    Json,
    /// Comma-separated values; the separator may also be a semicolon, a tab or a vertical bar.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// An Excel workbook.
    Xlsx,
    /// A PDF file.
    Pdf,
    /// A Word document.
    Docx,
    /// Anything else, for example an image.
    Other,
}

impl FileKind {
    /// Returns the kind of a file by its content and its name.
    ///
    /// The content of binary files decides, whatever they are called. The name only distinguishes texts, because
    /// almost any text is valid CSV or Markdown.
    ///
    /// ```
    /// use agcore_files::FileKind;
    ///
    /// assert_eq!(FileKind::detect("notes.md", b"# Notes"), FileKind::Markdown);
    /// assert_eq!(FileKind::detect("notes.md", b"%PDF-1.7\n"), FileKind::Pdf);
    /// assert_eq!(FileKind::detect("page", b"<!DOCTYPE html><title>x</title>"), FileKind::Html);
    /// assert_eq!(FileKind::detect("photo.txt", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"), FileKind::Other);
    /// ```
    pub fn detect(name: &str, content: &[u8]) -> Self {
        let head = &content[..content.len().min(PDF_HEADER_BYTES)];
        let named = Self::from_name(name);
        if let Some(position) = memmem::find(head, b"%PDF-") {
            // A text may talk about PDF files.
            if position == 0 || named == Some(Self::Pdf) {
                return Self::Pdf;
            }
        }
        if content.starts_with(b"PK\x03\x04") || content.starts_with(b"PK\x05\x06") {
            return Self::of_archive(content).or(named).unwrap_or(Self::Other).if_archive();
        }
        match named {
            Some(binary @ (Self::Pdf | Self::Xlsx | Self::Docx)) => binary,
            _ if !is_text(content) => Self::Other,
            Some(text) => text,
            None => Self::of_text(content),
        }
    }

    /// Returns the kind that the extension of a file name stands for.
    pub fn from_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Some(match extension.to_ascii_lowercase().as_str() {
            "txt" | "text" | "log" => Self::Text,
            "md" | "markdown" | "mkd" => Self::Markdown,
            "html" | "htm" | "xhtml" => Self::Html,
            "json" | "jsonl" | "ndjson" => Self::Json,
            "csv" => Self::Csv,
            "tsv" | "tab" => Self::Tsv,
            "xlsx" | "xlsm" => Self::Xlsx,
            "pdf" => Self::Pdf,
            "docx" | "docm" => Self::Docx,
            _ => return None,
        })
    }

    /// Returns the name, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Xlsx => "xlsx",
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Other => "other",
        }
    }

    /// Returns the kind of an archive. The names of its entries are not compressed, so that no parser is needed.
    fn of_archive(content: &[u8]) -> Option<Self> {
        let has = |name: &[u8]| memmem::find(content, name).is_some();
        if has(b"word/document.xml") {
            return Some(Self::Docx);
        }
        has(b"xl/workbook.xml").then_some(Self::Xlsx)
    }

    fn if_archive(self) -> Self {
        match self {
            Self::Docx | Self::Xlsx => self,
            _ => Self::Other,
        }
    }

    fn of_text(content: &[u8]) -> Self {
        let head = content[..content.len().min(SNIFFED_BYTES)].trim_ascii_start();
        let starts = |prefix: &[u8]| head.len() >= prefix.len() && head[..prefix.len()].eq_ignore_ascii_case(prefix);
        if starts(b"<!doctype html") || starts(b"<html") {
            return Self::Html;
        }
        let is_json = matches!(head.first(), Some(b'{' | b'['))
            && serde_json::from_slice::<serde::de::IgnoredAny>(content).is_ok();
        if is_json { Self::Json } else { Self::Text }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns whether the content may be a text: in UTF-16 if it has a mark, otherwise without NUL and without the beginning of a
/// known binary format.
fn is_text(content: &[u8]) -> bool {
    let is_utf16 = content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff");
    if is_utf16 {
        return true;
    }
    let head = &content[..content.len().min(SNIFFED_BYTES)];
    if memchr::memchr(0, head).is_some() {
        return false;
    }
    // Texts about PDF files contain the mark of PDF files, which may be anywhere.
    infer::get(content)
        .is_none_or(|found| found.matcher_type() == infer::MatcherType::Text || found.extension() == "pdf")
}

/// Returns the media type of a binary file by its first bytes.
pub(crate) fn media_type(content: &[u8]) -> Option<String> {
    infer::get(content).map(|found| found.mime_type().to_owned())
}
