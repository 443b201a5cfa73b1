//! [`FurtherFolders`]: the folders that the tools may use besides the current directory.

use std::{
    io,
    path::{Component, Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use cap_std::{ambient_authority, fs::Dir};

/// The further folders, in the order in which they were added. Their files have absolute paths.
#[derive(Debug, Default)]
pub(super) struct FurtherFolders(RwLock<Vec<Arc<Further>>>);

/// A folder, as a handle below which all files are opened.
#[derive(Debug)]
pub(super) struct Further {
    handle: Dir,
    path: PathBuf,
}

impl FurtherFolders {
    /// Adds a folder by its path without links. One that is part of another has no effect.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn add(&self, path: PathBuf) -> io::Result<()> {
        let handle = Dir::open_ambient_dir(&path, ambient_authority())?;
        let mut folders = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !folders.iter().any(|known| path.starts_with(&known.path)) {
            folders.push(Arc::new(Further { handle, path }));
        }
        Ok(())
    }

    /// Returns the paths of the folders.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let folders = self.0.read().unwrap_or_else(PoisonError::into_inner);
        folders.iter().map(|folder| folder.path.clone()).collect()
    }

    /// Returns the folder that contains an absolute path.
    pub(super) fn around(&self, path: &Path) -> Option<Arc<Further>> {
        let folders = self.0.read().unwrap_or_else(PoisonError::into_inner);
        folders.iter().find(|folder| path.starts_with(&folder.path)).cloned()
    }
}

/// A path below the directory in which it is opened.
#[derive(Debug)]
pub(in crate::program_tools) struct Place<'f> {
    directory: Directory<'f>,
    path: PathBuf,
}

#[derive(Debug)]
enum Directory<'f> {
    /// The current directory.
    Current(&'f Dir),
    Further(Arc<Further>),
}

impl<'f> Place<'f> {
    /// Creates a place in the current directory.
    pub(super) fn current(directory: &'f Dir, path: PathBuf) -> Self {
        Self {
            directory: Directory::Current(directory),
            path: or_dot(path),
        }
    }

    /// Creates a place in a further folder, from an absolute path in it.
    pub(super) fn further(folder: Arc<Further>, path: &Path) -> Self {
        let path = path.strip_prefix(&folder.path).map(Path::to_owned).unwrap_or_default();
        Self {
            directory: Directory::Further(folder),
            path: or_dot(path),
        }
    }

    /// Returns the handle of the directory.
    pub(in crate::program_tools) fn handle(&self) -> &Dir {
        match &self.directory {
            Directory::Current(handle) => handle,
            Directory::Further(folder) => &folder.handle,
        }
    }

    /// Returns the path below the directory.
    pub(in crate::program_tools) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns another path below the same directory, as the tools show and keep it: relative to the current directory, or
    /// absolute.
    pub(super) fn named(&self, path: &Path) -> PathBuf {
        match &self.directory {
            Directory::Current(_) => path.to_owned(),
            Directory::Further(folder) if path == Path::new(".") => folder.path.clone(),
            Directory::Further(folder) => folder.path.join(path),
        }
    }
}

fn or_dot(path: PathBuf) -> PathBuf {
    match path.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => path,
    }
}

/// Returns an absolute path without `.` and `..`, by its text alone.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
