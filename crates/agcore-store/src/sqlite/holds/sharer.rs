//! [`Sharer`]: a file of each holder who shares a hold.
//!
//! The locked file of a hold has space for one holder. Those who share it have files in a directory beside it, which they keep
//! locked: the files of processes that were killed are not.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use agcore_session::Holder;
use tempfile::{Builder, NamedTempFile};

use super::file::{create_directory, read, try_lock, unlock, write};
use crate::sql::HoldForm;

/// The beginning of the names of files that are not locked yet.
const NEW: &str = "new-";

/// The number of random characters in the name of a file.
const RANDOM: usize = 16;

/// The file of a holder, removed when this is dropped.
pub(super) struct Sharer {
    path: PathBuf,
    file: File,
}

impl Sharer {
    /// Writes down that a holder shares the hold whose file is at a path and is locked.
    pub(super) fn new(hold: &Path, holder: &Holder) -> io::Result<Self> {
        let directory = directory(hold);
        let mut new = create(&directory)?;
        try_lock(new.as_file(), HoldForm::Alone)?;
        write(new.as_file_mut(), holder)?;
        let name = new.path().file_name().unwrap_or_default().to_string_lossy();
        let path = directory.join(name.trim_start_matches(NEW));
        let file = new.persist(&path)?;
        Ok(Self { path, file })
    }

    /// Returns one of those who share the hold whose file is at a path.
    pub(super) fn find(hold: &Path) -> Option<Holder> {
        let files = fs::read_dir(directory(hold)).ok()?.filter_map(Result::ok);
        let mut named = files.filter(|file| !file.file_name().to_string_lossy().starts_with(NEW));
        named.find_map(|file| {
            let mut file = File::open(file.path()).ok()?;
            let is_left_behind = try_lock(&file, HoldForm::Shared).ok()?;
            if is_left_behind { None } else { read(&mut file).ok()? }
        })
    }

    /// Removes the files that killed processes have left behind. The caller has the hold alone.
    pub(super) fn clear(hold: &Path) {
        // What cannot be removed is harmless: it is not locked.
        let _ = fs::remove_dir_all(directory(hold));
    }
}

impl Drop for Sharer {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        unlock(&self.file);
    }
}

/// Creates an empty file in a directory, which is created if it does not exist.
fn create(directory: &Path) -> io::Result<NamedTempFile> {
    let mut options = Builder::new();
    options.prefix(NEW).rand_bytes(RANDOM);
    match options.tempfile_in(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_directory(directory)?;
            options.tempfile_in(directory)
        }
        created => created,
    }
}

/// Returns the directory for those who share the hold whose file is at a path.
fn directory(hold: &Path) -> PathBuf {
    hold.with_extension("shared")
}
