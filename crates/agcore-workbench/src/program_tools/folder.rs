//! [`ToolFolder`]: the directories to which the tools are confined.

mod further;
mod paths;
mod sandbox;

use std::{
    collections::{BTreeSet, HashSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard},
};

use agcore::tools::{Arguments, ToolContext, ToolError, permission::Glob};
use agcore_settings::places::own_files;
use agcore_terminal::process::expand_home;
use cap_std::{ambient_authority, fs::Dir};
use serde_json::Value;

pub(super) use self::further::Place;
use self::further::{FurtherFolders, plain};
use super::{
    approved::Approved,
    file_name::shown,
    guarded::{EACH_TIME, candidates, changed_by, in_home, is_guarded, only_lists, parts},
    open_files::{OpenFiles, Opened},
    secret::is_secret,
    unasked::Unasked,
    undo::Undo,
};
use crate::shell_command::CommandSandbox;

/// The current directory, as a handle below which all files are opened: neither `..` nor a link leads out of it, even if
/// somebody replaces a directory by a link at the same time. [Further folders](Self::add) have handles of their own, and the same
/// guards. Clones are the same folder.
#[derive(Debug, Clone)]
pub struct ToolFolder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Dir,
    /// The path of the directory, without links.
    path: PathBuf,
    further: FurtherFolders,
    /// The secret files that the settings allow to read.
    readable: RwLock<Vec<Glob>>,
    approved: Approved,
    undo: Undo,
    unasked: Unasked,
    /// The files of the folder that commands of hooks and MCP servers run.
    started: BTreeSet<PathBuf>,
    /// The variables with secrets that commands get nevertheless.
    kept_variables: Vec<String>,
    /// The files that are open in an editor.
    opened: Opened,
    /// The files and directories of the program itself.
    own: Vec<PathBuf>,
    /// The sandbox of commands.
    sandbox: CommandSandbox,
    /// The calls that a person was to confirm, each with its file.
    confirmed: Mutex<HashSet<(String, PathBuf)>>,
}

impl ToolFolder {
    /// Opens the current directory. `readable` are the secret files that may be read.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(readable: Vec<Glob>) -> io::Result<Self> {
        Self::at(Path::new("."), readable)
    }

    /// Opens a directory. `readable` are the secret files that may be read.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn at(path: &Path, readable: Vec<Glob>) -> io::Result<Self> {
        let handle = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self(Arc::new(Inner {
            handle,
            path: path.canonicalize()?,
            further: FurtherFolders::default(),
            readable: RwLock::new(readable),
            approved: Approved::default(),
            undo: Undo::default(),
            unasked: Unasked::default(),
            started: BTreeSet::new(),
            kept_variables: Vec::new(),
            opened: Opened::default(),
            own: own_files(),
            sandbox: CommandSandbox::default(),
            confirmed: Mutex::default(),
        })))
    }

    /// Sets the files that commands of hooks and MCP servers run, and the variables with secrets that commands get. Must be called
    /// before the folder is cloned.
    pub(crate) fn with_commands(mut self, started: BTreeSet<PathBuf>, kept_variables: Vec<String>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            (inner.started, inner.kept_variables) = (started, kept_variables);
        }
        self
    }

    /// Reads and writes files as an editor has them, with changes that are not saved. Must be called before the folder is cloned.
    #[must_use]
    pub fn with_open_files(mut self, files: impl OpenFiles + 'static) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.opened = Opened::of(files);
        }
        self
    }

    /// Returns the files that are open in an editor.
    pub(super) fn opened(&self) -> &Opened {
        &self.0.opened
    }

    /// Returns the variables with secrets that commands get.
    pub(crate) fn kept_variables(&self) -> &[String] {
        &self.0.kept_variables
    }

    /// Returns why a person must confirm that a call changes the file, if that is so, and remembers the call.
    pub(super) fn confirmation(&self, call_id: &str, path: &str) -> Option<String> {
        let path = self.writable(path).ok()?;
        self.is_guarded(&path).then(|| {
            let reason = format!(
                "{} can start programs or change what is allowed, {EACH_TIME}",
                shown(&path)
            );
            let mut confirmed = self.0.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
            confirmed.insert((call_id.to_owned(), path));
            reason
        })
    }

    /// Checks that a call may change the file: a link may have changed since it was decided that the call needs no question.
    ///
    /// # Errors
    /// When a person must confirm the change, and was not asked about this file.
    pub(super) fn check_confirmed(&self, call_id: &str, path: &Path) -> Result<(), ToolError> {
        let mut confirmed = self.0.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        match confirmed.remove(&(call_id.to_owned(), path.to_owned())) || !self.is_guarded(path) {
            true => Ok(()),
            false => Err(ToolError::failed(format!(
                "{} can start programs, and another path led to it when the call was decided, so nothing was written; call the tool \
                 again",
                shown(path)
            ))),
        }
    }

    /// Returns why a person must confirm a command line, if that is so: it may change a file that can start programs, or use one
    /// that usually contains secrets.
    pub(super) fn line_confirmation(&self, line: &str) -> Option<String> {
        let is_guarded = |part: &&str| candidates(part).any(|part| self.is_changeable(part));
        let found = changed_by(line).into_iter().find(is_guarded);
        if let Some(part) = found {
            return Some(format!(
                "{part} can start programs or change what is allowed, {EACH_TIME}"
            ));
        }
        let line = &in_home(line);
        if !only_lists(line)
            && let Some(part) =
                parts(line).find(|part| candidates(part).any(|part| self.holds_own(&self.resolved(part))))
        {
            return Some(format!(
                "{part} contains the keys and sessions of agcore, so every use of it is asked about"
            ));
        }
        let is_file = |part: &str| part.contains(['/', '*', '?', '[']) || self.0.path.join(part).exists();
        let is_secret = |part: &str| is_file(part) && !self.is_readable(&self.resolved(part));
        let secret = parts(line).find(|part| candidates(part).any(is_secret));
        secret.map(|part| format!("{part} may contain secrets, so every use of it is asked about"))
    }

    /// Checks that a command line names no file of the program itself.
    ///
    /// # Errors
    /// When it does.
    pub(crate) fn check_line(&self, line: &str) -> Result<(), ToolError> {
        let line = &in_home(line);
        let is_own = |part: &str| self.is_own(&self.resolved(part));
        match parts(line).find(|part| candidates(part).any(is_own)) {
            None => Ok(()),
            Some(part) => Err(own(part)),
        }
    }

    /// Returns the path of a part of a command line, relative to this directory if it is below it.
    fn resolved(&self, part: &str) -> PathBuf {
        let part = expand_home(part);
        let path = self.0.path.join(part);
        let path = path.canonicalize().unwrap_or(path);
        let plain = plain(&path);
        plain.strip_prefix(&self.0.path).map(Path::to_owned).unwrap_or(plain)
    }

    /// Returns whether a part of a command line may name a file that can start programs. A script may be named from its directory.
    fn is_changeable(&self, part: &str) -> bool {
        let path = self.resolved(part);
        let is_named = |started: &PathBuf| path.file_name().is_some() && started.file_name() == path.file_name();
        self.is_guarded(&path) || self.0.started.iter().any(is_named)
    }

    fn is_guarded(&self, path: &Path) -> bool {
        is_guarded(path) || self.0.started.contains(path)
    }

    /// Returns whether a file is one of the program itself, with keys, sessions and decisions of the user.
    fn is_own(&self, path: &Path) -> bool {
        let path = self.0.path.join(path);
        self.0.own.iter().any(|own| path.starts_with(own))
    }

    /// Returns whether files of the program itself are below a directory.
    fn holds_own(&self, path: &Path) -> bool {
        let path = self.0.path.join(path);
        self.0.own.iter().any(|own| own.starts_with(&path))
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns what was approved about files.
    pub(super) fn approved(&self) -> &Approved {
        &self.0.approved
    }

    /// Returns the changes that can be taken back.
    pub fn undo(&self) -> &Undo {
        &self.0.undo
    }

    /// Returns the changes that were made without a question.
    pub(super) fn unasked(&self) -> &Unasked {
        &self.0.unasked
    }

    /// Checks that a file, by its path without links, may be read.
    ///
    /// # Errors
    /// When it usually contains secrets, and the settings do not name it.
    pub(super) fn check_secret(&self, path: &Path) -> Result<(), ToolError> {
        match self.is_readable(path) {
            true => Ok(()),
            false if self.is_own(path) => Err(own(&path.display().to_string())),
            false => {
                let name = shown(path);
                Err(ToolError::failed(format!(
                    "{name} may contain secrets, so the tools do not use it; the user can allow it with `allow = \
                     [\"read_file({name})\"]` in the table [permissions] of agcore.toml"
                )))
            }
        }
    }

    fn readable(&self) -> RwLockReadGuard<'_, Vec<Glob>> {
        self.0.readable.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the secret files that may be read from now on.
    pub(super) fn set_readable(&self, readable: Vec<Glob>) {
        *self.0.readable.write().unwrap_or_else(PoisonError::into_inner) = readable;
    }

    /// Returns whether a file may be read.
    pub(super) fn is_readable(&self, path: &Path) -> bool {
        let text = path.to_string_lossy().replace('\\', "/");
        !self.is_own(path) && (!is_secret(path) || self.readable().iter().any(|glob| glob.matches(&text)))
    }
}

/// Returns why a person must confirm a call that changes the file `path`.
pub(super) fn confirmation(arguments: &Arguments, context: &ToolContext) -> Option<String> {
    let folder = context.extension::<ToolFolder>()?;
    folder.confirmation(context.call_id(), arguments["path"].as_str()?)
}

/// Returns the check of a tool that people are not asked about calls that would fail. `check` gets the arguments.
pub(super) fn precondition<T>(
    check: impl Fn(&ToolFolder, &Value) -> Result<T, ToolError> + Send + Sync + 'static,
) -> impl Fn(&Arguments, &ToolContext) -> Result<(), ToolError> + Send + Sync + 'static {
    move |arguments, context| match context.extension::<ToolFolder>() {
        Some(folder) => check(&folder, arguments.as_value()).map(drop),
        None => Ok(()),
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

fn own(path: &str) -> ToolError {
    ToolError::failed(format!(
        "{path} belongs to agcore, whose keys, sessions and settings the tools never use"
    ))
}

pub(super) fn outside(path: &str) -> ToolError {
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
