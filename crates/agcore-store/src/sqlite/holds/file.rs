//! Files that are locked, with their holders as content. On platforms other than Unix, every lock is granted.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::Path,
};

use agcore_session::Holder;

use crate::sql::HoldForm;

/// The largest description of a holder.
const MAX_HOLDER: u64 = 4096;

/// Locks a file, or changes how it is locked, unless other handles have it locked. Returns whether it is.
#[cfg(unix)]
pub(super) fn try_lock(file: &File, form: HoldForm) -> io::Result<bool> {
    use rustix::{fs::FlockOperation, io::Errno};
    let operation = match form {
        HoldForm::Alone => FlockOperation::NonBlockingLockExclusive,
        HoldForm::Shared => FlockOperation::NonBlockingLockShared,
    };
    match rustix::io::retry_on_intr(|| rustix::fs::flock(file, operation)) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
pub(super) fn try_lock(_: &File, _: HoldForm) -> io::Result<bool> {
    Ok(true)
}

/// Unlocks a file also for child processes that have inherited it, as between fork and exec.
pub(super) fn unlock(_file: &File) {
    #[cfg(unix)]
    let _ = rustix::fs::flock(_file, rustix::fs::FlockOperation::Unlock);
}

/// Returns whether an open file is the one at a path.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(found) => Ok((own.dev(), own.ino()) == (found.dev(), found.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
pub(super) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Creates a directory that only this user can read, unless it exists.
#[cfg(unix)]
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

#[cfg(not(unix))]
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Returns the holder that a file contains. One who has just locked it has not written that yet.
pub(super) fn read(file: &mut File) -> io::Result<Option<Holder>> {
    let mut text = String::new();
    file.take(MAX_HOLDER).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text).ok())
}

/// Writes the holder to an empty file.
pub(super) fn write(file: &mut File, holder: &Holder) -> io::Result<()> {
    file.write_all(&serde_json::to_vec(holder)?)
}
