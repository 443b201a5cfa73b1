//! [`restore`]: makes files as they were before the tools changed them.

use std::path::{Path, PathBuf};

use agcore::tools::ToolError;

use super::{approved::fingerprint_of, folder::ToolFolder, text_file, undo::Recorded};

/// The outcome for files that were to be as before.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The files that are as before.
    pub restored: Vec<PathBuf>,
    /// The files that stay as they are, each with the reason.
    pub kept: Vec<(PathBuf, String)>,
}

/// Makes the files as they were before the last `count` turns of the conversation. A file that another program has changed as
/// well stays as it is.
pub fn restore(folder: &ToolFolder, count: usize) -> Restored {
    let mut result = Restored::default();
    for (path, changes) in folder.undo().changes(count) {
        match restore_file(folder, &path, &changes) {
            Ok(()) => result.restored.push(path),
            Err(reason) => result.kept.push((path, reason)),
        }
    }
    folder.undo().forget(count, &result.restored);
    result
}

fn restore_file(folder: &ToolFolder, path: &Path, changes: &[Recorded]) -> Result<(), String> {
    let is_chain = |pair: &[Recorded]| pair[0].after == fingerprint_of(pair[1].before.as_deref());
    let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
        return Ok(());
    };
    let text = |error: ToolError| error.to_string();
    let now = text_file::read_if_exists(folder, path).map_err(text)?;
    if fingerprint_of(now.as_deref()) != last.after || !changes.windows(2).all(is_chain) {
        return Err("something else has changed it since".to_owned());
    }
    match &first.before {
        Some(before) => text_file::write(folder, path, before).map_err(text),
        None => {
            let place = folder.place(path);
            let removed = place.handle().remove_file(place.path());
            removed.map_err(|error| error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::program_tools::change::Change;

    fn folder() -> (TempDir, ToolFolder) {
        let directory = tempfile::tempdir().unwrap();
        let folder = ToolFolder::at(directory.path(), Vec::new()).unwrap();
        (directory, folder)
    }

    fn change(folder: &ToolFolder, name: &str, after: &str) {
        let path = PathBuf::from(name);
        let before = text_file::read_if_exists(folder, &path).unwrap();
        text_file::write(folder, &path, after).unwrap();
        let after = after.to_owned();
        folder.undo().record(&Change { path, before, after });
    }

    fn names(paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn files_are_as_before_the_turns() {
        let (directory, folder) = folder();
        let read = |name: &str| fs::read_to_string(directory.path().join(name)).ok();
        fs::write(directory.path().join("a"), "0").unwrap();
        folder.undo().start_turn();
        change(&folder, "a", "1");
        folder.undo().start_turn();
        change(&folder, "a", "2");
        change(&folder, "new", "n");
        assert_eq!(names(&folder.undo().changed_in(1)), ["a", "new"]);
        let restored = restore(&folder, 1);
        assert_eq!(
            (names(&restored.restored), restored.kept),
            (vec!["a".to_owned(), "new".to_owned()], vec![])
        );
        assert_eq!((read("a").as_deref(), read("new")), (Some("1"), None));
        // It is not undone twice.
        assert!(folder.undo().changed_in(1).is_empty());
        assert_eq!(names(&restore(&folder, 2).restored), ["a"]);
        assert_eq!(read("a").as_deref(), Some("0"));
    }

    #[test]
    fn what_something_else_has_changed_stays() {
        let (directory, folder) = folder();
        let file = directory.path().join("a");
        fs::write(&file, "0").unwrap();
        folder.undo().start_turn();
        change(&folder, "a", "1");
        fs::write(&file, "mine").unwrap();
        let reason = "something else has changed it since".to_owned();
        assert_eq!(restore(&folder, 1).kept, [("a".into(), reason.clone())]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        // A change between two changes of the tools would be lost as well.
        change(&folder, "a", "2");
        assert_eq!(restore(&folder, 1).kept, [("a".into(), reason.clone())]);
        fs::remove_file(&file).unwrap();
        assert_eq!(restore(&folder, 1).kept, [("a".into(), reason)]);
        assert!(!file.exists());
    }

    #[test]
    fn turns_whose_messages_were_removed_belong_to_the_next_one() {
        let (directory, folder) = folder();
        fs::write(directory.path().join("a"), "0").unwrap();
        folder.undo().start_turn();
        change(&folder, "b", "b");
        folder.undo().start_turn();
        change(&folder, "a", "1");
        folder.undo().remove_turns(1);
        folder.undo().start_turn();
        change(&folder, "a", "2");
        assert_eq!(names(&restore(&folder, 1).restored), ["a"]);
        assert_eq!(fs::read_to_string(directory.path().join("a")).unwrap(), "0");
        assert_eq!(names(&folder.undo().changed_in(2)), ["b"]);
        folder.undo().forget_turns();
        assert!(folder.undo().changed_in(2).is_empty());
    }

    #[test]
    fn contents_are_kept_up_to_a_limit() {
        let (_directory, folder) = folder();
        let large = "x".repeat(4 * 1024 * 1024);
        for turn in 0..20 {
            folder.undo().start_turn();
            change(&folder, &format!("file{turn}"), &large);
            change(&folder, &format!("file{turn}"), "small");
        }
        let kept = folder.undo().changed_in(20).len();
        assert_eq!(kept, 16, "64 MiB of 4 MiB each");
    }
}
