//! [`Holds`]: locked files beside the database, one for each hold.

mod file;
mod sharer;

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use agcore_chat::Timestamp;
use agcore_session::{Hold, HoldGuard, Holder, SessionError, SessionErrorKind};

use self::{
    file::{create_directory, is_at, read, try_lock, unlock, write},
    sharer::Sharer,
};
use crate::{
    error::{StoreError, StoreErrorKind},
    sql::{HoldForm, hold_key},
};

/// The number of attempts to take a hold that another one has, and the pause between them: that one may only have checked it, or be
/// about to end.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// The number of bytes of a hash in the name of a file.
const NAME_BYTES: usize = 16;

/// Locked files beside the database, in a directory of their own. The operating system unlocks those of a process that ends,
/// however it ends. On platforms other than Unix, nothing is locked.
#[derive(Debug, Clone)]
pub(super) struct Holds {
    directory: PathBuf,
    program: String,
}

/// A locked file, unlocked when this is dropped, and removed unless others share it.
struct Guard {
    path: PathBuf,
    file: File,
    /// The holder, if the lock is shared.
    sharer: Option<Sharer>,
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

    /// Takes a hold if no other holder excludes that.
    ///
    /// # Errors
    /// When another one has it, or the file cannot be created.
    pub(super) fn take(&self, name: &str, form: HoldForm, now: Timestamp) -> Result<Hold, StoreError> {
        let holder = Holder::new(&*self.program, now).with_process(std::process::id());
        match self.try_take(name, form, &holder) {
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
    pub(super) fn take_patiently(&self, name: &str, form: HoldForm, now: Timestamp) -> Result<Hold, StoreError> {
        let mut attempt = 1;
        loop {
            std::thread::sleep(PAUSE);
            match self.take(name, form, now) {
                Err(error) if error.kind() == StoreErrorKind::Session(SessionErrorKind::Held) && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                taken => return taken,
            }
        }
    }

    fn try_take(&self, name: &str, form: HoldForm, holder: &Holder) -> io::Result<Result<Guard, Holder>> {
        let path = self.path(name);
        loop {
            let mut file = self.open(&path)?;
            if !try_lock(&file, form)? {
                let unknown = || Holder::new("a program", Timestamp::default());
                let other = read(&mut file)?.or_else(|| Sharer::find(&path));
                return Ok(Err(other.unwrap_or_else(unknown)));
            }
            // The one who had it may have removed the file in between.
            if !is_at(&file, &path)? {
                continue;
            }
            file.set_len(0)?;
            let sharer = match form {
                HoldForm::Alone => {
                    write(&mut file, holder)?;
                    None
                }
                HoldForm::Shared => Some(Sharer::new(&path, holder)?),
            };
            return Ok(Ok(Guard { path, file, sharer }));
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
        let is_last = match self.sharer.take() {
            None => true,
            // Changing the lock may unlock the file for a moment, in which another one may remove it.
            Some(sharer) => {
                drop(sharer);
                try_lock(&self.file, HoldForm::Alone).unwrap_or(false) && is_at(&self.file, &self.path).unwrap_or(false)
            }
        };
        if is_last {
            // While it is locked: others who have opened it see that it is not there any more. One that stays is harmless.
            Sharer::clear(&self.path);
            let _ = fs::remove_file(&self.path);
        }
        unlock(&self.file);
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
