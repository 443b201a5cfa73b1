//! [`FolderReader`]: all files of a folder.

use std::{
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use cap_std::{ambient_authority, fs::Dir};

use crate::{
    problem::{FileProblem, FileProblemKind},
    work::exceeded,
};

/// The number of times that a file is read which changes meanwhile.
const ATTEMPTS: usize = 3;

/// Limits on the files of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderLimits {
    /// The number of files and folders; 200,000 by default. A folder with more is refused as a whole.
    pub entries: usize,
    /// The depth of subfolders; 64 by default. Deeper ones are left out.
    pub depth: usize,
}

impl FolderLimits {
    /// Creates the default limits.
    pub fn new() -> Self {
        Self {
            entries: 200_000,
            depth: 64,
        }
    }

    /// Sets the largest number of files and folders.
    #[must_use]
    pub fn with_entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// Sets the depth of subfolders.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }
}

impl Default for FolderLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// The files of a folder and its subfolders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderFiles {
    /// The paths of the files in the order of their characters, with `/` between their parts.
    pub files: Vec<String>,
    /// The entries that are not read.
    pub left_out: Vec<LeftOut>,
}

/// An entry of a folder that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The path. Characters that are not Unicode are replaced.
    pub path: String,
    /// The reason.
    pub reason: String,
    /// Whether it is a folder whose files are unknown.
    pub is_unread_folder: bool,
}

/// Reads the files of a folder. No path and no symbolic link leads out of it, also if the folder changes meanwhile.
///
/// All functions block the thread.
///
/// ```
/// use agcore_files::{FolderLimits, FolderReader};
///
/// # let folder = tempfile::tempdir()?;
/// std::fs::create_dir(folder.path().join("garden"))?;
/// std::fs::write(folder.path().join("garden/tomatoes.md"), "Water them in the morning.")?;
/// let reader = FolderReader::open(folder.path())?;
/// assert_eq!(reader.list(&FolderLimits::new())?.files, ["garden/tomatoes.md"]);
/// assert_eq!(reader.read("garden/tomatoes.md", 100)?.unwrap(), b"Water them in the morning.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FolderReader {
    dir: Arc<Dir>,
}

impl FolderReader {
    /// Opens a folder.
    ///
    /// # Errors
    /// When the folder does not exist or cannot be opened.
    pub fn open(folder: &Path) -> Result<Self, FileProblem> {
        let opened = Dir::open_ambient_dir(folder, ambient_authority());
        let dir = opened.map_err(|error| {
            let message = format!("the folder cannot be opened ({error}); check its path and its permissions");
            FileProblem::new(&folder.to_string_lossy(), FileProblemKind::Unavailable, message).with_source(error)
        })?;
        Ok(Self { dir: Arc::new(dir) })
    }

    /// Lists all files. Entries whose names begin with a dot are ignored. Symbolic links, devices, pipes, folders that are too
    /// deep or cannot be read, and names that are not Unicode are left out.
    ///
    /// # Errors
    /// When there are too many files, or the folder itself cannot be read.
    pub fn list(&self, limits: &FolderLimits) -> Result<FolderFiles, FileProblem> {
        let mut walk = Walk {
            limits,
            entries: 0,
            found: FolderFiles::default(),
        };
        walk.folder(&self.dir, "", 0)?;
        let mut found = walk.found;
        found.files.sort_unstable();
        Ok(found)
    }

    /// Reads a file; `None` if there is none at this path, because it was deleted or is not a file. If the file changes while it is
    /// read, it is read again.
    ///
    /// # Errors
    /// When the file is larger than `max_bytes`, does not stop to change, or cannot be read.
    pub fn read(&self, path: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, FileProblem> {
        for _ in 0..ATTEMPTS {
            match self.read_once(path, max_bytes) {
                Ok(Once::Content(content)) => return Ok(Some(content)),
                Ok(Once::Changed) => {}
                Ok(Once::TooLarge) => return Err(exceeded(path, &format!("it is larger than {max_bytes} bytes"))),
                Ok(Once::NoFile) => return Ok(None),
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    return Ok(None);
                }
                Err(error) => {
                    let message = format!("{error}; check its permissions and the disk");
                    return Err(FileProblem::new(path, FileProblemKind::Unavailable, message).with_source(error));
                }
            }
        }
        let message = "it changes while it is read; try again when no program writes it";
        Err(FileProblem::new(path, FileProblemKind::Unavailable, message))
    }

    fn read_once(&self, path: &str, max_bytes: usize) -> io::Result<Once> {
        // Opening a pipe would wait for its other end.
        if !self.dir.symlink_metadata(path)?.is_file() {
            return Ok(Once::NoFile);
        }
        let mut file = self.dir.open(path)?;
        let before = file.metadata()?;
        if usize::try_from(before.len()).is_ok_and(|size| size > max_bytes) {
            return Ok(Once::TooLarge);
        }
        let mut content = Vec::new();
        file.by_ref()
            .take((max_bytes as u64).saturating_add(1))
            .read_to_end(&mut content)?;
        let after = file.metadata()?;
        let is_same = before.len() == after.len()
            && before.modified().ok() == after.modified().ok()
            && content.len() as u64 == before.len();
        Ok(if is_same { Once::Content(content) } else { Once::Changed })
    }
}

/// The result of one attempt to read a file.
enum Once {
    Content(Vec<u8>),
    Changed,
    TooLarge,
    NoFile,
}

struct Walk<'l> {
    limits: &'l FolderLimits,
    entries: usize,
    found: FolderFiles,
}

impl Walk<'_> {
    fn folder(&mut self, dir: &Dir, path: &str, depth: usize) -> Result<(), FileProblem> {
        let entries = match dir.entries() {
            Ok(entries) => entries,
            Err(error) if depth == 0 => {
                let message = format!("the folder cannot be read ({error}); check its permissions");
                return Err(FileProblem::new(path, FileProblemKind::Unavailable, message).with_source(error));
            }
            Err(error) => {
                self.leave_out(path, format!("the folder cannot be read: {error}"), true);
                return Ok(());
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.leave_out(path, format!("the folder cannot be read to its end: {error}"), true);
                    return Ok(());
                }
            };
            self.entry(&entry, path, depth)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &cap_std::fs::DirEntry, folder: &str, depth: usize) -> Result<(), FileProblem> {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            return Ok(());
        }
        self.entries += 1;
        if self.entries > self.limits.entries {
            let limit = self.limits.entries;
            let message = format!(
                "it has more than {limit} files and folders; add its subfolders one by one, or raise the limit"
            );
            return Err(FileProblem::new("the folder", FileProblemKind::LimitExceeded, message));
        }
        let shown = name.to_string_lossy();
        let path = if folder.is_empty() {
            shown.to_string()
        } else {
            format!("{folder}/{shown}")
        };
        if name.to_str().is_none() {
            self.leave_out(&path, "its name is not Unicode; rename it", true);
            return Ok(());
        }
        match entry.file_type() {
            Ok(kind) if kind.is_file() => self.found.files.push(path),
            Ok(kind) if kind.is_symlink() => self.leave_out(&path, "it is a symbolic link", false),
            Ok(kind) if !kind.is_dir() => self.leave_out(&path, "it is not a file", false),
            Ok(_) if depth >= self.limits.depth => {
                let reason = format!("it is more than {} folders deep", self.limits.depth);
                self.leave_out(&path, reason, true);
            }
            Ok(_) => match entry.open_dir() {
                Ok(dir) => return self.folder(&dir, &path, depth + 1),
                // Deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.leave_out(&path, format!("the folder cannot be opened: {error}"), true),
            },
            Err(error) => self.leave_out(&path, format!("it cannot be read: {error}"), true),
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &str, reason: impl Into<String>, is_unread_folder: bool) {
        self.found.left_out.push(LeftOut {
            path: path.to_owned(),
            reason: reason.into(),
            is_unread_folder,
        });
    }
}
