//! [`Archive`]: a ZIP archive that was decompressed once to see how large it is.

use std::io::{self, Cursor, Read};

use zip::{ZipArchive, result::ZipError};

use crate::{
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
}

impl<'w> Archive<'w> {
    /// Opens the content of a file and measures it.
    pub(crate) fn open(work: &'w Work<'w>) -> Result<Self, FileProblem> {
        // Office programs put protected documents, and all documents of their older formats, into this container.
        if work.content.starts_with(b"\xd0\xcf\x11\xe0") {
            let message =
                "it is protected with a password or in an older format; save it without a password in the new format";
            return Err(FileProblem::new(work.name, FileProblemKind::Encrypted, message));
        }
        let zip = ZipArchive::new(Cursor::new(work.content)).map_err(|error| broken(work, error))?;
        let mut archive = Self { work, zip };
        archive.measure()?;
        Ok(archive)
    }

    /// Returns an entry as text, or `None` if there is no such entry.
    #[cfg(feature = "docx")]
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, FileProblem> {
        let work = self.work;
        let entry = match self.zip.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(broken(work, error)),
        };
        let mut text = String::new();
        let limit = work.limits.unpacked_bytes as u64;
        let read = entry.take(limit).read_to_string(&mut text);
        read.map_err(|error| work.broken(&format!("its part {name} is not UTF-8")).with_source(error))?;
        Ok(Some(text))
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
