//! [`FileKind`]: the format of a file.

use std::fmt;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::problem::FileProblemKind;

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
            None => Self::of_text(name, content),
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

    /// Returns the kind of an archive, by the names of its entries in the directory at its end, which are not compressed.
    fn of_archive(content: &[u8]) -> Option<Self> {
        let mut names = entry_names(content);
        names.find_map(|name| {
            let name = name.to_ascii_lowercase().replace('\\', "/");
            let name = name.trim_start_matches('/');
            // Word Online calls its main part `document2.xml`.
            if name.starts_with("word/document") && name.ends_with(".xml") {
                return Some(Self::Docx);
            }
            (name.starts_with("xl/workbook") && name.ends_with(".xml")).then_some(Self::Xlsx)
        })
    }

    fn if_archive(self) -> Self {
        match self {
            Self::Docx | Self::Xlsx => self,
            _ => Self::Other,
        }
    }

    fn of_text(name: &str, content: &[u8]) -> Self {
        let head = markup_start(content);
        let starts = |prefix: &[u8]| head.len() >= prefix.len() && head[..prefix.len()].eq_ignore_ascii_case(prefix);
        if starts(b"<!doctype html") || starts(b"<html") {
            return Self::Html;
        }
        // Many programs export web pages, or values that are separated by tabs, under this name.
        if has_extension(name, "xls") {
            return if starts(b"<") { Self::Html } else { Self::Csv };
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

/// Returns whether a file name ends with an extension.
pub(crate) fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, found)| found.eq_ignore_ascii_case(extension))
}

/// Returns whether the content may be a text: in UTF-16, or without NUL and without the beginning of a known binary format.
fn is_text(content: &[u8]) -> bool {
    let is_utf16 = content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff");
    if is_utf16 || utf16_without_mark(content).is_some() {
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

/// Returns whether a text without a byte order mark is UTF-16, `true` for little-endian: it has NUL bytes, as ASCII in UTF-16 has,
/// and no character that texts do not have.
pub(crate) fn utf16_without_mark(content: &[u8]) -> Option<bool> {
    let head = &content[..content.len().min(SNIFFED_BYTES)];
    if content.len() < 4 || !content.len().is_multiple_of(2) || memchr::memchr(0, head).is_none() {
        return None;
    }
    if infer::get(content).is_some_and(|found| found.matcher_type() != infer::MatcherType::Text)
        || is_container(content)
    {
        return None;
    }
    let latin = |read: fn([u8; 2]) -> u16| {
        let units = head.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
        let mut count = 0_usize;
        for char in char::decode_utf16(units.clone()) {
            match char {
                Ok('\t' | '\n' | '\r') => count += 1,
                Ok(char) if char.is_control() => return None,
                Ok(char) => count += usize::from(char < '\u{100}'),
                // The sample may end within a character.
                Err(_) if units.len() * 2 == SNIFFED_BYTES => {}
                Err(_) => return None,
            }
        }
        (count > 0).then_some(count)
    };
    match (latin(u16::from_le_bytes), latin(u16::from_be_bytes)) {
        (None, None) => None,
        (little, big) => Some(little >= big),
    }
}

/// Returns the beginning of a text without white space, marks, comments and an XML declaration.
fn markup_start(content: &[u8]) -> Vec<u8> {
    let head = &content[..content.len().min(SNIFFED_BYTES)];
    // Marks, and the other half of ASCII in UTF-16.
    let head: Vec<u8> = head
        .iter()
        .copied()
        .filter(|byte| !matches!(byte, 0 | 0xef | 0xbb | 0xbf | 0xfe | 0xff))
        .collect();
    let mut rest = head.trim_ascii_start();
    loop {
        let end: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', ..] => b"?>",
            _ => return rest.to_vec(),
        };
        rest = match memmem::find(rest, end) {
            Some(at) => rest[at + end.len()..].trim_ascii_start(),
            None => return rest.to_vec(),
        };
    }
}

/// Returns the names in the directory of a ZIP archive.
fn entry_names(content: &[u8]) -> impl Iterator<Item = String> {
    memmem::find_iter(content, b"PK\x01\x02").filter_map(|at| {
        let length = content.get(at + 28..at + 30)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let name = content.get(at + 46..at + 46 + length)?;
        Some(String::from_utf8_lossy(name).into_owned())
    })
}

/// Returns whether a file is in the container of older office programs.
fn is_container(content: &[u8]) -> bool {
    content.starts_with(b"\xd0\xcf\x11\xe0")
}

/// Returns why a file in the container of older office programs cannot be read, as a sentence about "it"; `None` for other files.
pub(crate) fn legacy_office(content: &[u8]) -> Option<(FileProblemKind, &'static str)> {
    if !is_container(content) {
        return None;
    }
    let has = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        memmem::find(content, &name).is_some()
    };
    use FileProblemKind::{Encrypted, Unsupported};
    Some(if has("EncryptedPackage") {
        (Encrypted, "it is protected with a password; save it without a password")
    } else if has("WordDocument") {
        (
            Unsupported,
            "it is a Word document in the format of before 2007 (.doc); save it as .docx",
        )
    } else if has("Workbook") || has("Book") {
        (
            Unsupported,
            "it is an Excel workbook in the format of before 2007 (.xls); save it as .xlsx",
        )
    } else {
        (
            Encrypted,
            "it is protected with a password or in an older format; save it without a password in the new format",
        )
    })
}

/// Returns the media type of a binary file by its first bytes.
pub(crate) fn media_type(content: &[u8]) -> Option<String> {
    infer::get(content).map(|found| found.mime_type().to_owned())
}
