//! [`ToolFolder`]: the directory to which the tools are confined.

use std::{
    ffi::OsStr,
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use agcore::tools::{ToolError, permission::Glob};
use cap_std::{ambient_authority, fs::Dir};

use super::{approved::Approved, secret::is_secret, undo::Undo};

/// The current directory, as a handle below which all files are opened: neither `..` nor a link leads out of it, even if
/// somebody replaces a directory by a link at the same time. Clones are the same folder.
#[derive(Debug, Clone)]
pub(crate) struct ToolFolder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Dir,
    /// The path of the directory, without links.
    path: PathBuf,
    /// The secret files that the settings allow to read.
    readable: Vec<Glob>,
    approved: Approved,
    undo: Undo,
}

impl ToolFolder {
    /// Opens the current directory. `readable` are the secret files that may be read.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(readable: Vec<Glob>) -> io::Result<Self> {
        Self::at(Path::new("."), readable)
    }

    /// Opens a directory.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn at(path: &Path, readable: Vec<Glob>) -> io::Result<Self> {
        let handle = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self(Arc::new(Inner {
            handle,
            path: path.canonicalize()?,
            readable,
            approved: Approved::default(),
            undo: Undo::default(),
        })))
    }

    /// Returns the handle.
    pub(super) fn handle(&self) -> &Dir {
        &self.0.handle
    }

    /// Returns the path of the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns what was approved about files.
    pub(super) fn approved(&self) -> &Approved {
        &self.0.approved
    }

    /// Returns the changes that can be taken back.
    pub(crate) fn undo(&self) -> &Undo {
        &self.0.undo
    }

    /// Returns the path of a file or directory below this one, without links and `..`.
    ///
    /// # Errors
    /// When it does not exist or is outside.
    pub(super) fn existing(&self, path: &str) -> Result<PathBuf, ToolError> {
        let relative = self.relative(path)?;
        let found = self.0.handle.canonicalize(&relative);
        found.map_err(|error| refusal("find", path, &error))
    }

    /// Returns the path of a file below this directory that may not exist yet.
    ///
    /// # Errors
    /// When it is outside, or belongs to git.
    pub(super) fn writable(&self, path: &str) -> Result<PathBuf, ToolError> {
        let relative = self.relative(path)?;
        let found = match self.0.handle.canonicalize(&relative) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.missing(&relative),
            found => found,
        };
        let found = found.map_err(|error| refusal("write", path, &error))?;
        let is_git = |component: Component<'_>| component.as_os_str().eq_ignore_ascii_case(".git");
        if found.components().any(is_git) {
            return Err(ToolError::failed(format!(
                "{path} belongs to git, whose own files the tools do not change"
            )));
        }
        self.check_secret(&found)?;
        Ok(found)
    }

    /// Checks that a file, by its path without links, may be read.
    ///
    /// # Errors
    /// When it usually contains secrets, and the settings do not name it.
    pub(super) fn check_secret(&self, path: &Path) -> Result<(), ToolError> {
        match self.is_readable(path) {
            true => Ok(()),
            false => {
                let name = path.display();
                Err(ToolError::failed(format!(
                    "{name} may contain secrets, so the tools do not use it; the user can allow it with `allow = \
                     [\"read_file({name})\"]` in the table [permissions] of agcore.toml"
                )))
            }
        }
    }

    /// Returns whether a file may be read.
    pub(super) fn is_readable(&self, path: &Path) -> bool {
        let text = path.to_string_lossy().replace('\\', "/");
        !is_secret(path) || self.0.readable.iter().any(|glob| glob.matches(&text))
    }

    /// Returns the path relative to this directory. Whether it leads out of it is decided when it is opened.
    fn relative(&self, path: &str) -> Result<PathBuf, ToolError> {
        let path = Path::new(path);
        let relative = match path.strip_prefix(&self.0.path) {
            Ok(relative) => relative,
            Err(_) if path.is_absolute() || path.components().any(|part| matches!(part, Component::Prefix(_))) => {
                return Err(outside(&path.display().to_string()));
            }
            Err(_) => path,
        };
        Ok(match relative.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => relative.to_owned(),
        })
    }

    /// Returns the path of something that does not exist: below the last directory that does.
    fn missing(&self, relative: &Path) -> io::Result<PathBuf> {
        let mut rest: Vec<&OsStr> = Vec::new();
        let mut known = relative;
        loop {
            let (Some(parent), Some(name)) = (known.parent(), known.file_name()) else {
                // It ends with `..`.
                return Err(io::Error::from(io::ErrorKind::NotFound));
            };
            rest.push(name);
            known = parent;
            let directory = if known.as_os_str().is_empty() {
                Path::new(".")
            } else {
                known
            };
            match self.0.handle.canonicalize(directory) {
                Ok(found) if found == Path::new(".") => return Ok(rest.iter().rev().collect()),
                Ok(found) => return Ok(rest.iter().rev().fold(found, |path, name| path.join(name))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns the error of an operation on a path.
pub(super) fn refusal(action: &str, path: &str, error: &io::Error) -> ToolError {
    match error.kind() {
        io::ErrorKind::NotFound => ToolError::failed(format!("cannot {action} {path}: it does not exist")),
        // The handle reports a path that leads out in this way.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => outside(path),
        _ => ToolError::failed(format!("cannot {action} {path}: {error}")),
    }
}

fn outside(path: &str) -> ToolError {
    ToolError::failed(format!(
        "{path} is outside of the current directory, to which the tools are confined"
    ))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn paths_stay_below_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(outer.path().join("outside.txt"), "x").unwrap();
        fs::write(root.join("src/a.rs"), "x").unwrap();
        fs::write(root.join(".env"), "x").unwrap();
        symlink("../outside.txt", root.join("link.txt")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink(".env", root.join("harmless.txt")).unwrap();
        symlink("/etc", root.join("etc")).unwrap();
        let folder = ToolFolder::at(&root, Vec::new()).unwrap();
        let existing = |path: &str| folder.existing(path).map(|path| path.display().to_string());
        assert_eq!(existing("src/../src/./a.rs").unwrap(), "src/a.rs");
        let absolute = root.canonicalize().unwrap().join("src/a.rs");
        assert_eq!(existing(absolute.to_str().unwrap()).unwrap(), "src/a.rs");
        for escape in [
            "../outside.txt",
            "link.txt",
            "up/outside.txt",
            "etc/passwd",
            "/etc/passwd",
            "src/../../outside.txt",
        ] {
            let error = existing(escape).unwrap_err();
            assert!(
                error.message().contains("outside of the current directory"),
                "{escape}: {error}"
            );
            assert!(folder.writable(escape).is_err(), "{escape}");
        }
        assert!(existing("gone").unwrap_err().message().contains("does not exist"));
        assert_eq!(folder.writable("new/deep/b.rs").unwrap(), Path::new("new/deep/b.rs"));
        for refused in [
            "up/new.txt",
            "../new.txt",
            "etc/new",
            ".git/hooks/pre-commit",
            ".GIT/config",
            ".env",
            "harmless.txt",
        ] {
            assert!(folder.writable(refused).is_err(), "{refused}");
        }
        // A link does not hide the name of the file.
        assert!(folder.check_secret(&folder.existing("harmless.txt").unwrap()).is_err());
        let allowed = ToolFolder::at(&root, vec![Glob::new(".env")]).unwrap();
        assert!(allowed.check_secret(&allowed.existing("harmless.txt").unwrap()).is_ok());
    }
}
