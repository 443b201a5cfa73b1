//! [`Holds`]: locked files beside the database, one for each hold.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use agcore_chat::Timestamp;
use agcore_session::{Hold, HoldGuard, Holder, SessionError, SessionErrorKind};

use crate::{
    error::{StoreError, StoreErrorKind},
    sql::hold_key,
};

/// The number of attempts to take a hold that another one has, and the pause between them: that one may only have checked it, or be
/// about to end.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// The number of bytes of a hash in the name of a file.
const NAME_BYTES: usize = 16;

/// The largest description of a holder.
const MAX_HOLDER: u64 = 4096;

/// Locked files beside the database, in a directory of their own. The operating system unlocks those of a process that ends,
/// however it ends. On platforms other than Unix, nothing is locked.
#[derive(Debug, Clone)]
pub(super) struct Holds {
    directory: PathBuf,
    program: String,
}

/// A locked file, removed and unlocked when this is dropped.
struct Guard {
    path: PathBuf,
    _file: File,
}

impl Holds {
    /// Returns the holds of the database at a path.
    pub(super) fn new(database: &Path, program: &str) -> Self {
        // Several paths can lead to one database.
        let mut directory = real(database).into_os_string();
        directory.push("-holds");
        Self {
            directory: directory.into(),
            program: program.to_owned(),
        }
    }

    /// Takes a hold if no other holder has it.
    ///
    /// # Errors
    /// When another one has it, or the file cannot be created.
    pub(super) fn take(&self, name: &str, now: Timestamp) -> Result<Hold, StoreError> {
        let holder = Holder::new(&*self.program, now).with_process(std::process::id());
        match self.try_take(name, &holder) {
            Ok(Ok(guard)) => Ok(Hold::new(guard)),
            Ok(Err(other)) => Err(SessionError::held(name, other).into()),
            Err(error) => Err(self.failure(error)),
        }
    }

    #[cold]
    fn failure(&self, error: io::Error) -> StoreError {
        let attempt = format!("cannot lock a session in {}", self.directory.display());
        // Nothing is lost: what needs the session waits until there is space.
        let (kind, reason) = match error.kind() {
            io::ErrorKind::StorageFull => (StoreErrorKind::Unavailable, "the disk is full"),
            _ => (
                StoreErrorKind::Storage,
                "check that the directory of the database is writable",
            ),
        };
        StoreError::with_source(kind, format!("{attempt}: {reason}"), error)
    }

    /// Takes a hold, which another one may be about to release. Blocks meanwhile.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub(super) fn take_patiently(&self, name: &str, now: Timestamp) -> Result<Hold, StoreError> {
        let mut attempt = 1;
        loop {
            std::thread::sleep(PAUSE);
            match self.take(name, now) {
                Err(error) if error.kind() == StoreErrorKind::Session(SessionErrorKind::Held) && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                taken => return taken,
            }
        }
    }

    fn try_take(&self, name: &str, holder: &Holder) -> io::Result<Result<Guard, Holder>> {
        let path = self.path(name);
        loop {
            let mut file = self.open(&path)?;
            if !try_lock(&file)? {
                return Ok(Err(read(&mut file)?));
            }
            // The one who had it may have removed the file in between.
            if is_at(&file, &path)? {
                file.set_len(0)?;
                file.write_all(&serde_json::to_vec(holder)?)?;
                return Ok(Ok(Guard { path, _file: file }));
            }
        }
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_directory(&self.directory)?;
                options.open(path)
            }
            opened => opened,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        let hash = hold_key("", name);
        let name: String = hash[..NAME_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
        self.directory.join(name)
    }
}

impl HoldGuard for Guard {
    fn is_lost(&self) -> bool {
        false
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // While it is locked: others who have opened it see that it is not there any more. One that stays is harmless.
        let _ = fs::remove_file(&self.path);
        unlock(&self._file);
    }
}

/// Returns the path of a file without links. If it does not exist yet, its directory may.
fn real(path: &Path) -> PathBuf {
    let in_directory = || {
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(directory.join(path.file_name()?))
    };
    path.canonicalize()
        .ok()
        .or_else(in_directory)
        .unwrap_or_else(|| path.to_owned())
}

/// Returns who has a file locked. One who has just locked it has not written that yet.
fn read(file: &mut File) -> io::Result<Holder> {
    let mut text = String::new();
    file.take(MAX_HOLDER).read_to_string(&mut text)?;
    let unknown = || Holder::new("a program", Timestamp::default());
    Ok(serde_json::from_str(&text).unwrap_or_else(|_| unknown()))
}

#[cfg(unix)]
fn create_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

#[cfg(not(unix))]
fn create_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

#[cfg(unix)]
fn try_lock(file: &File) -> io::Result<bool> {
    use rustix::{fs::FlockOperation::NonBlockingLockExclusive, io::Errno};
    match rustix::io::retry_on_intr(|| rustix::fs::flock(file, NonBlockingLockExclusive)) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn try_lock(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Unlocks a file also for child processes that have inherited it, as between fork and exec.
fn unlock(_file: &File) {
    #[cfg(unix)]
    let _ = rustix::fs::flock(_file, rustix::fs::FlockOperation::Unlock);
}

/// Returns whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(found) => Ok((own.dev(), own.ino()) == (found.dev(), found.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
