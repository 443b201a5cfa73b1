//! [`Archive`]: a ZIP archive that was decompressed once to see how large it is.

use std::{
    collections::HashMap,
    io::{self, Cursor, Read},
};

use zip::{ZipArchive, result::ZipError};

use crate::{
    kind::legacy_office,
    problem::{FileProblem, FileProblemKind},
    work::Work,
};

/// The number of entries of an archive. Office files have one for each sheet and picture.
const MAX_ENTRIES: usize = 10_000;

/// The number of bytes that are decompressed between two checks.
const CHUNK_BYTES: usize = 64 << 10;

/// An archive whose entries together have at most [`Limits::unpacked_bytes`](crate::Limits::unpacked_bytes).
///
/// The sizes in its directory prove nothing, so all of it is decompressed before any of it is used.
pub(crate) struct Archive<'w> {
    work: &'w Work<'w>,
    zip: ZipArchive<Cursor<&'w [u8]>>,
    /// The entries by their names, as [`normalized`].
    entries: HashMap<String, usize>,
}

impl<'w> Archive<'w> {
    /// Opens the content of a file and measures it.
    pub(crate) fn open(work: &'w Work<'w>) -> Result<Self, FileProblem> {
        // Office programs put protected documents, and all documents of their older formats, into another container.
        if let Some((kind, message)) = legacy_office(work.content) {
            return Err(FileProblem::new(work.name, kind, message));
        }
        let zip = ZipArchive::new(Cursor::new(work.content)).map_err(|error| broken(work, error))?;
        let mut archive = Self {
            work,
            zip,
            entries: HashMap::new(),
        };
        archive.measure()?;
        Ok(archive)
    }

    /// Returns the file.
    #[cfg(feature = "docx")]
    pub(crate) fn work(&self) -> &'w Work<'w> {
        self.work
    }

    /// Returns an entry, or `None` if there is no such entry. Names are compared without regard to case and the kind of slash.
    #[cfg(feature = "docx")]
    pub(crate) fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, FileProblem> {
        let work = self.work;
        let Some(index) = self.entries.get(&normalized(name)) else {
            return Ok(None);
        };
        let entry = self.zip.by_index(*index).map_err(|error| broken(work, error))?;
        let mut content = Vec::new();
        let limit = work.limits.unpacked_bytes as u64;
        let read = entry.take(limit).read_to_end(&mut content);
        read.map_err(|error| damaged(work, error))?;
        Ok(Some(content))
    }

    /// Returns an entry with XML as text, in UTF-8 or the encoding that it declares, or `None` if there is no such entry.
    #[cfg(feature = "docx")]
    pub(crate) fn xml(&mut self, name: &str) -> Result<Option<String>, FileProblem> {
        let work = self.work;
        let Some(content) = self.bytes(name)? else {
            return Ok(None);
        };
        let text = crate::decode::decode_xml(&content);
        text.map(Some)
            .ok_or_else(|| work.broken(&format!("its part {name} is not in the encoding that it declares")))
    }

    fn measure(&mut self) -> Result<(), FileProblem> {
        let work = self.work;
        if self.zip.len() > MAX_ENTRIES {
            return Err(work.exceeded(&format!("it has more than {MAX_ENTRIES} parts")));
        }
        let mut left = work.limits.unpacked_bytes;
        let mut buffer = vec![0; CHUNK_BYTES];
        for index in 0..self.zip.len() {
            let mut entry = self.zip.by_index(index).map_err(|error| broken(work, error))?;
            let name = normalized(&String::from_utf8_lossy(entry.name_raw()));
            self.entries.entry(name).or_insert(index);
            loop {
                work.check()?;
                let read = match entry.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(damaged(work, error)),
                };
                left = left.checked_sub(read).ok_or_else(|| work.unpacked_too_large())?;
            }
        }
        Ok(())
    }
}

/// Returns a name as all programs write it: some use backslashes, or other cases in references than in names.
fn normalized(name: &str) -> String {
    let name = name.replace('\\', "/").to_lowercase();
    name.trim_start_matches('/').to_owned()
}

fn broken(work: &Work<'_>, error: ZipError) -> FileProblem {
    if matches!(error, ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) {
        let message = "it is protected with a password; remove the password, and try again";
        return FileProblem::new(work.name, FileProblemKind::Encrypted, message).with_source(error);
    }
    damaged(work, error)
}

fn damaged(work: &Work<'_>, error: impl std::error::Error + Send + Sync + 'static) -> FileProblem {
    work.broken("it is not a complete ZIP archive, which files of this kind are")
        .with_source(error)
}
