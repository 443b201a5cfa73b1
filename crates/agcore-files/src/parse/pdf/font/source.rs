//! [`Source`]: reads the parts of a font, within what the file may still use.

use lopdf::{Dictionary, Document as Pdf, Object, Stream};

/// The size of a table or font file after decompression in bytes.
const MAX_BYTES: usize = 8 << 20;

/// The file that contains a font, and the rest of its limits.
#[derive(Debug)]
pub(in super::super) struct Source<'p> {
    pdf: &'p Pdf,
    /// How many bytes may still be decompressed for fonts.
    bytes: usize,
    /// How many entries the tables of all fonts may still have.
    entries: usize,
}

impl<'p> Source<'p> {
    pub(in super::super) fn new(pdf: &'p Pdf, bytes: usize, entries: usize) -> Self {
        Self { pdf, bytes, entries }
    }

    /// Returns a member of a dictionary, wherever in the file it is.
    pub(super) fn member(&self, dictionary: &'p Dictionary, key: &[u8]) -> Option<&'p Object> {
        dictionary.get_deref(key, self.pdf).ok()
    }

    pub(super) fn dictionary(&self, dictionary: &'p Dictionary, key: &[u8]) -> Option<&'p Dictionary> {
        self.member(dictionary, key)?.as_dict().ok()
    }

    pub(super) fn array(&self, dictionary: &'p Dictionary, key: &[u8]) -> Option<&'p [Object]> {
        Some(self.member(dictionary, key)?.as_array().ok()?.as_slice())
    }

    pub(super) fn number(&self, dictionary: &'p Dictionary, key: &[u8]) -> Option<f32> {
        self.member(dictionary, key)?.as_float().ok()
    }

    pub(super) fn name(&self, dictionary: &'p Dictionary, key: &[u8]) -> Option<String> {
        let name = self.member(dictionary, key)?.as_name().ok()?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    /// Returns the object that a reference leads to, or the object itself.
    pub(super) fn resolve(&self, object: &'p Object) -> Option<&'p Object> {
        self.pdf.dereference(object).ok().map(|(_, object)| object)
    }

    /// Returns the content of a stream, or `None` if it is damaged or too large.
    pub(super) fn content(&mut self, stream: &Stream) -> Option<Vec<u8>> {
        let content = stream.get_plain_content_with_limit(self.bytes.min(MAX_BYTES)).ok()?;
        self.bytes = self.bytes.checked_sub(content.len())?;
        Some(content)
    }

    /// Returns the content of a stream that is a member of a dictionary.
    pub(super) fn stream(&mut self, dictionary: &'p Dictionary, key: &[u8]) -> Option<Vec<u8>> {
        let stream = self.member(dictionary, key)?.as_stream().ok()?;
        self.content(stream)
    }

    /// Counts the entries of a table, and returns whether it can be kept.
    pub(super) fn keep(&mut self, entries: usize) -> bool {
        let left = self.entries.checked_sub(entries);
        self.entries = left.unwrap_or(0);
        left.is_some()
    }
}
