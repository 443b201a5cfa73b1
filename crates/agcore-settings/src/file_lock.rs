//! [`FileLock`]: lets one process at a time change a file that is replaced as a whole.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

use crate::places::create_private_directory;

/// A lock on a file, held until it is dropped. The locked file is another one next to it, because the file itself is replaced. On
/// platforms other than Unix, nothing is locked.
#[derive(Debug)]
pub struct FileLock {
    /// The system releases the lock when the file is closed, also if the process dies.
    _file: File,
}

impl FileLock {
    /// Waits until no other process holds the lock. Creates the directory if it is missing.
    ///
    /// # Errors
    /// When the lock file cannot be created or locked.
    pub fn of(path: &Path) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            create_private_directory(directory)?;
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.with_extension("lock"))?;
        #[cfg(unix)]
        rustix::io::retry_on_intr(|| rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive))?;
        Ok(Self { _file: file })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, sync::Barrier, thread};

    use super::*;

    #[test]
    fn changes_of_several_writers_are_all_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state").join("count.json");
        let barrier = Barrier::new(8);
        let add = || {
            barrier.wait();
            for _ in 0..20 {
                let _lock = FileLock::of(&path).unwrap();
                let count: u32 = fs::read_to_string(&path).map_or(0, |text| text.parse().unwrap());
                thread::yield_now();
                fs::write(&path, (count + 1).to_string()).unwrap();
            }
        };
        thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(add))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "160");
    }
}
