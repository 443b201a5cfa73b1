//! Reads and writes text files of the folder.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use agcore::tools::{ToolContext, ToolError};
use cap_std::fs::{Dir, OpenOptions};

use super::{
    change::Change,
    file_name::shown,
    folder::{Place, ToolFolder, refusal},
};

/// The largest file that tools read or write, in bytes.
pub(super) const MAX_FILE: u64 = 4 * 1024 * 1024;

/// The ending of a file that is not complete yet.
const INCOMPLETE: &str = ".agcore-new";

/// Reads a text file by its path without links: as it is in the editor, if it is open in one.
///
/// # Errors
/// When it is not a regular file, too large, or not text, on the disk or in the editor.
pub(super) fn read(folder: &ToolFolder, path: &Path) -> Result<String, ToolError> {
    // An editor knows no limits: what cannot be read from the disk is not asked for.
    let saved = read_saved(folder, path)?;
    Ok(open_text(folder, path)?.unwrap_or(saved))
}

/// Returns the text of a file in the editor, if it is open in one.
fn open_text(folder: &ToolFolder, path: &Path) -> Result<Option<String>, ToolError> {
    if !folder.opened().has_editor() {
        return Ok(None);
    }
    let name = shown(path);
    check_place(&folder.place(path)).map_err(|error| refusal("read", &name, &error))?;
    let text = folder.opened().read(&folder.path().join(path));
    text.map(|text| checked(text.into_bytes(), &name)).transpose()
}

/// Reads a text file by its path without links, as it is saved.
///
/// # Errors
/// As [`read`].
pub(super) fn read_saved(folder: &ToolFolder, path: &Path) -> Result<String, ToolError> {
    let name = shown(path);
    let bytes = bytes(&folder.place(path)).map_err(|error| refusal("read", &name, &error))?;
    checked(bytes, &name)
}

fn checked(bytes: Vec<u8>, name: &str) -> Result<String, ToolError> {
    if bytes.len() as u64 > MAX_FILE {
        return Err(ToolError::failed(format!(
            "cannot read {name}: it is larger than {} MiB",
            MAX_FILE / 1024 / 1024
        )));
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(ToolError::failed(format!("cannot read {name}: it is not a text file"))),
    }
}

/// Reads a text file, or returns `None` if it does not exist. One that is only in the editor exists if it has a text.
///
/// # Errors
/// As [`read`].
pub(super) fn read_if_exists(folder: &ToolFolder, path: &Path) -> Result<Option<String>, ToolError> {
    let place = folder.place(path);
    match place.handle().symlink_metadata(place.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(open_text(folder, path)?.filter(|text| !text.is_empty()))
        }
        _ => read(folder, path).map(Some),
    }
}

/// Writes a file completely or not at all, and creates its directory if it is missing.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(folder: &ToolFolder, path: &Path, text: &str) -> Result<(), ToolError> {
    let (name, place) = (shown(path), folder.place(path));
    if folder.opened().has_editor() {
        let ready = create_parent(place.handle(), place.path()).and_then(|()| check_place(&place));
        ready.map_err(|error| refusal("write", &name, &error))?;
    }
    match folder.opened().write(&folder.path().join(path), text) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(reason) => return Err(ToolError::failed(format!("cannot write {name}: {reason}"))),
    }
    replace(place.handle(), place.path(), text).map_err(|error| refusal("write", &name, &error))
}

/// Writes the change, and remembers it. Returns its description for the model.
///
/// # Errors
/// When the file is not the one that was approved, or cannot be written.
pub(super) fn apply(folder: &ToolFolder, context: &ToolContext, change: &Change) -> Result<String, ToolError> {
    let call_id = context.call_id();
    folder.check_confirmed(call_id, &change.path)?;
    let was_shown = folder
        .approved()
        .check(call_id, &change.path, change.before.as_deref())?;
    write(folder, &change.path, &change.after)?;
    folder.undo().record(change);
    folder.unasked().record_edit(call_id, || change.edit(folder.path()));
    if !was_shown {
        folder.unasked().record(call_id, change);
    }
    Ok(change.summary())
}

fn bytes(place: &Place<'_>) -> io::Result<Vec<u8>> {
    let (handle, path) = (place.handle(), place.path());
    // A pipe would block when it is opened.
    if !handle.metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    handle.open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn replace(handle: &Dir, path: &Path, text: &str) -> io::Result<()> {
    create_parent(handle, path)?;
    let permissions = match handle.metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a regular file")),
        Ok(metadata) => Some(metadata.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let incomplete = incomplete(path);
    let mut options = OpenOptions::new();
    let mut file = handle.open_with(&incomplete, options.write(true).create_new(true))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| match permissions {
        Some(permissions) => file.set_permissions(permissions),
        None => Ok(()),
    });
    let replaced = written.and_then(|()| handle.rename(&incomplete, handle, path));
    if replaced.is_err() {
        // The first error is the one to report.
        let _ = handle.remove_file(&incomplete);
    }
    replaced
}

/// Checks that a path without links still has none, and leads to a regular file or to none: an editor follows links, also out of
/// the folder.
fn check_place(place: &Place<'_>) -> io::Result<()> {
    let (handle, path) = (place.handle(), place.path());
    match handle.symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    for parent in parents {
        match handle.canonicalize(parent) {
            Ok(found) if found == parent => return Ok(()),
            // The directory may be missing, but not be a link to a missing one.
            Err(error) if error.kind() == io::ErrorKind::NotFound && handle.symlink_metadata(parent).is_err() => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Err(io::Error::other("a link has taken the place of its directory")),
        }
    }
    Ok(())
}

fn create_parent(handle: &Dir, path: &Path) -> io::Result<()> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => handle.create_dir_all(parent),
        None => Ok(()),
    }
}

fn incomplete(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(INCOMPLETE);
    path.with_file_name(name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        fs,
        os::unix::fs::symlink,
        sync::{Arc, Mutex},
    };

    use tempfile::TempDir;

    use super::*;
    use crate::program_tools::open_files::OpenFiles;

    /// An editor that has the same text in each file, and follows every link.
    #[derive(Clone, Default)]
    struct FakeEditor {
        text: &'static str,
        asked: Arc<Mutex<Vec<PathBuf>>>,
    }

    #[expect(clippy::unwrap_used, reason = "a test fails then")]
    impl OpenFiles for FakeEditor {
        fn read(&self, path: &Path) -> Option<String> {
            self.asked.lock().unwrap().push(path.to_owned());
            Some(self.text.to_owned())
        }

        fn write(&self, path: &Path, text: &str) -> Result<bool, String> {
            self.asked.lock().unwrap().push(path.to_owned());
            fs::write(path, text).map(|()| true).map_err(|error| error.to_string())
        }
    }

    #[expect(clippy::unwrap_used, reason = "a test fails then")]
    fn opened(text: &'static str) -> (TempDir, ToolFolder, FakeEditor) {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir_all(root.join("src")).unwrap();
        let editor = FakeEditor {
            text,
            ..FakeEditor::default()
        };
        let folder = ToolFolder::at(&root, Vec::new())
            .unwrap()
            .with_open_files(editor.clone());
        (outer, folder, editor)
    }

    #[test]
    fn an_editor_is_not_asked_for_what_cannot_be_read_from_the_disk() {
        let (outer, folder, editor) = opened("unsaved");
        let root = outer.path().join("root");
        fs::write(root.join("binary"), b"\xff\0").unwrap();
        fs::write(root.join("large"), vec![b'x'; 5 * 1024 * 1024]).unwrap();
        fs::write(outer.path().join("secret"), "s").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        for refused in ["binary", "large", "src", "link", "missing"] {
            assert!(read(&folder, Path::new(refused)).is_err(), "{refused}");
        }
        assert!(editor.asked.lock().unwrap().is_empty());
        fs::write(root.join("src/a.rs"), "saved").unwrap();
        assert_eq!(read(&folder, Path::new("src/a.rs")).unwrap(), "unsaved");
    }

    #[test]
    fn a_file_that_is_only_in_the_editor_exists_if_it_has_a_text() {
        let (_outer, folder, _) = opened("not saved yet");
        assert_eq!(
            read_if_exists(&folder, Path::new("new/a.rs")).unwrap().as_deref(),
            Some("not saved yet")
        );
        let (_outer, folder, _) = opened("");
        assert_eq!(read_if_exists(&folder, Path::new("new/a.rs")).unwrap(), None);
    }

    #[test]
    fn an_editor_does_not_write_through_links() {
        let (outer, folder, editor) = opened("");
        let root = outer.path().join("root");
        fs::write(outer.path().join("outside"), "kept").unwrap();
        fs::create_dir(outer.path().join("other")).unwrap();
        // They have taken the places of a file and of a directory since the path was decided.
        symlink("../outside", root.join("a.rs")).unwrap();
        symlink("../missing", root.join("b.rs")).unwrap();
        symlink("src", root.join("lib")).unwrap();
        symlink("../other", root.join("up")).unwrap();
        for refused in ["a.rs", "b.rs", "lib/c.rs", "up/d.rs", "src"] {
            assert!(write(&folder, Path::new(refused), "new").is_err(), "{refused}");
            assert!(editor.asked.lock().unwrap().is_empty(), "{refused}");
        }
        assert_eq!(fs::read_to_string(outer.path().join("outside")).unwrap(), "kept");
        assert!(!outer.path().join("missing").exists() && !root.join("src/c.rs").exists());
        write(&folder, Path::new("new/deep/e.rs"), "new").unwrap();
        assert_eq!(fs::read_to_string(root.join("new/deep/e.rs")).unwrap(), "new");
    }
}
