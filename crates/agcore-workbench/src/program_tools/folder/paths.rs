//! The paths of a [`ToolFolder`]: relative ones are below the current directory, absolute ones below it or a further folder.

use std::{
    ffi::OsStr,
    io,
    path::{Component, Path, PathBuf},
};

use agcore::tools::ToolError;

use super::{Place, ToolFolder, further::plain, outside, refusal};
use crate::program_tools::file_name::unquoted;

impl ToolFolder {
    /// Adds a folder that the tools may use from now on, with the same guards as the current directory. The path must be absolute
    /// and without links; a folder inside of the current directory has no effect.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn add(&self, path: &Path) -> io::Result<()> {
        match path.starts_with(self.path()) {
            true => Ok(()),
            false => {
                self.0.further.add(path.to_owned())?;
                self.0.sandbox.add(path);
                Ok(())
            }
        }
    }

    /// Returns the paths of the further folders.
    pub fn further(&self) -> Vec<PathBuf> {
        self.0.further.paths()
    }

    /// Returns where a path without links, which may be absolute, is opened.
    pub(in crate::program_tools) fn place(&self, path: &Path) -> Place<'_> {
        let further = (path.is_absolute()).then(|| self.0.further.around(path)).flatten();
        match further {
            Some(folder) => Place::further(folder, path),
            None => Place::current(&self.0.handle, path.to_owned()),
        }
    }

    /// Returns the path of a file or directory, without links and `..`.
    ///
    /// # Errors
    /// When it does not exist or is outside.
    pub(in crate::program_tools) fn existing(&self, path: &str) -> Result<PathBuf, ToolError> {
        let place = self.named_place(path)?;
        let found = place.handle().canonicalize(place.path());
        let found = found.map_err(|error| refusal("find", path, &error))?;
        Ok(self.known(place.named(&found)))
    }

    /// Returns the path of a file that may not exist yet.
    ///
    /// # Errors
    /// When it is outside, or belongs to git.
    pub(in crate::program_tools) fn writable(&self, path: &str) -> Result<PathBuf, ToolError> {
        let place = self.named_place(path)?;
        let found = match place.handle().canonicalize(place.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing(&place),
            found => found,
        };
        let found = found.map_err(|error| refusal("write", path, &error))?;
        let found = self.known(place.named(&found));
        let is_git = |component: Component<'_>| component.as_os_str().eq_ignore_ascii_case(".git");
        if found.components().any(is_git) {
            return Err(ToolError::failed(format!(
                "{path} belongs to git, whose own files the tools do not change"
            )));
        }
        self.check_secret(&found)?;
        Ok(found)
    }

    /// Returns a path without links, relative to the current directory if it is below it: a further folder may contain that.
    fn known(&self, path: PathBuf) -> PathBuf {
        match path.strip_prefix(self.path()) {
            Ok(relative) => relative.to_owned(),
            Err(_) => path,
        }
    }

    /// Returns the place that a text names. Whether it leads out of the directory is decided when it is opened.
    fn named_place(&self, text: &str) -> Result<Place<'_>, ToolError> {
        let path = self.named(text);
        let is_absolute = path.is_absolute() || path.components().any(|part| matches!(part, Component::Prefix(_)));
        if let Ok(relative) = path.strip_prefix(self.path()) {
            return Ok(Place::current(&self.0.handle, relative.to_owned()));
        }
        // What leads out of the current directory by its name may lead to a further folder, such as ../lib.
        let whole = plain(&self.path().join(&path));
        let is_inside = !is_absolute && whole.starts_with(self.path());
        match self.0.further.around(&whole).filter(|_| !is_inside) {
            Some(folder) => Ok(Place::further(folder, &whole)),
            None if is_absolute => Err(outside(&path.display().to_string())),
            None => Ok(Place::current(&self.0.handle, path)),
        }
    }

    /// Returns the path that a text names: without quotation marks, unless only a file whose name has them exists.
    fn named(&self, text: &str) -> PathBuf {
        let exists = |path: &Path| {
            let place = self.place(path);
            place.handle().symlink_metadata(place.path()).is_ok()
        };
        match unquoted(text) {
            Some(path) if exists(&path) || !exists(Path::new(text)) => path,
            _ => PathBuf::from(text),
        }
    }
}

/// Returns the path of a missing file or directory: below the last directory that exists.
fn missing(place: &Place<'_>) -> io::Result<PathBuf> {
    let mut rest: Vec<&OsStr> = Vec::new();
    let mut known = place.path();
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
        match place.handle().canonicalize(directory) {
            Ok(found) if found == Path::new(".") => return Ok(rest.iter().rev().collect()),
            Ok(found) => return Ok(rest.iter().rev().fold(found, |path, name| path.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use tempfile::TempDir;

    use super::*;

    #[expect(clippy::unwrap_used, reason = "a test fails then")]
    fn folders() -> (TempDir, PathBuf, ToolFolder) {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().canonicalize().unwrap();
        for folder in ["main/src", "lib/src", "lib/.git", "lib/.agcore", "other"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["main/a.rs", "lib/src/b.rs", "lib/.env", "other/c.rs", "secret.txt"] {
            fs::write(root.join(file), "x").unwrap();
        }
        let folder = ToolFolder::at(&root.join("main"), Vec::new()).unwrap();
        folder.add(&root.join("lib")).unwrap();
        (outer, root, folder)
    }

    #[test]
    fn a_further_folder_has_absolute_paths() {
        let (_outer, root, folder) = folders();
        let file = root.join("lib/src/b.rs");
        assert_eq!(folder.existing(file.to_str().unwrap()).unwrap(), file);
        assert_eq!(folder.existing("../lib/src/../src/b.rs").unwrap(), file);
        assert_eq!(folder.existing("../lib").unwrap(), root.join("lib"));
        assert_eq!(folder.existing("a.rs").unwrap(), Path::new("a.rs"));
        assert_eq!(folder.existing(".").unwrap(), Path::new("."));
        // A link in the current directory does not lead there.
        symlink("../lib", root.join("main/link")).unwrap();
        assert!(folder.existing("link/src/b.rs").is_err());
        let new = root.join("lib/new/deep.rs");
        assert_eq!(folder.writable(new.to_str().unwrap()).unwrap(), new);
        assert_eq!(folder.further(), [root.join("lib")]);
    }

    #[test]
    fn a_further_folder_has_the_same_guards() {
        let (_outer, root, folder) = folders();
        symlink("../secret.txt", root.join("lib/link.txt")).unwrap();
        symlink(".env", root.join("lib/harmless.txt")).unwrap();
        symlink("../other", root.join("lib/up")).unwrap();
        let lib = |path: &str| root.join("lib").join(path).to_str().unwrap().to_owned();
        for outside in ["../secret.txt", "link.txt", "up/c.rs", "src/../../other/c.rs"] {
            let error = folder.existing(&lib(outside)).unwrap_err();
            assert!(
                error.message().contains("outside of the current directory"),
                "{outside}: {error}"
            );
            assert!(folder.writable(&lib(outside)).is_err(), "{outside}");
        }
        for refused in [".git/config", ".GIT/hooks/x", ".env", "harmless.txt"] {
            assert!(folder.writable(&lib(refused)).is_err(), "{refused}");
        }
        let harmless = folder.existing(&lib("harmless.txt")).unwrap();
        assert!(folder.check_secret(&harmless).is_err());
        for guarded in [".agcore/hooks/x.sh", "AGENTS.md", ".mcp.json", "src/agcore.toml"] {
            assert!(folder.confirmation("c", &lib(guarded)).is_some(), "{guarded}");
        }
        assert!(folder.confirmation("c", &lib("src/b.rs")).is_none());
        let line = format!("cat {}", lib(".env"));
        assert!(folder.line_confirmation(&line).unwrap().contains("may contain secrets"));
        let allowed = ToolFolder::at(&root.join("main"), vec![lib(".env").into()]).unwrap();
        allowed.add(&root.join("lib")).unwrap();
        assert!(allowed.check_secret(&root.join("lib/.env")).is_ok());
    }

    #[test]
    fn a_folder_around_the_current_directory_does_not_rename_its_files() {
        let (_outer, root, folder) = folders();
        folder.add(&root).unwrap();
        folder.add(&root.join("main/src")).unwrap();
        assert_eq!(folder.further(), [root.join("lib"), root.clone()]);
        let main = root.join("main/a.rs");
        assert_eq!(folder.existing(main.to_str().unwrap()).unwrap(), Path::new("a.rs"));
        symlink("main/a.rs", root.join("link.rs")).unwrap();
        assert_eq!(folder.existing("../link.rs").unwrap(), Path::new("a.rs"));
        assert_eq!(folder.existing("../secret.txt").unwrap(), root.join("secret.txt"));
    }
}
