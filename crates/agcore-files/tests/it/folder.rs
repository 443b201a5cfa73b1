//! The files of folders, which may change and be hostile.

use std::{fs, path::Path};

use agcore_files::{FileProblemKind, FolderFiles, FolderLimits, FolderReader};

fn list(folder: &Path, limits: &FolderLimits) -> FolderFiles {
    FolderReader::open(folder).unwrap().list(limits).unwrap()
}

fn reasons(found: &FolderFiles) -> Vec<(&str, &str, bool)> {
    let mut reasons: Vec<_> = found
        .left_out
        .iter()
        .map(|left| (left.path.as_str(), left.reason.as_str(), left.is_unread_folder))
        .collect();
    reasons.sort_unstable();
    reasons
}

#[test]
fn files_are_listed_in_order_and_hidden_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["b.md", "a/10:30 \\ x.md", "a/ä.txt", ".git/config", "a/.hidden"] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    let found = list(folder.path(), &FolderLimits::new());
    assert_eq!(found.files, ["a/10:30 \\ x.md", "a/ä.txt", "b.md"]);
    assert!(found.left_out.is_empty());
    let reader = FolderReader::open(folder.path()).unwrap();
    assert_eq!(reader.read("a/10:30 \\ x.md", 1).unwrap().unwrap(), b"x");
    assert_eq!(reader.read("gone.md", 1).unwrap(), None);
    assert_eq!(reader.read("a", 1).unwrap(), None);
    let error = reader.read("b.md", 0).unwrap_err();
    assert_eq!(error.kind(), FileProblemKind::LimitExceeded);
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_left_out_and_lead_nowhere() {
    use std::os::unix::{ffi::OsStrExt, fs::symlink};

    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "secret").unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), "a").unwrap();
    symlink(outside.path(), folder.path().join("out")).unwrap();
    symlink(outside.path().join("secret.md"), folder.path().join("link.md")).unwrap();
    symlink(".", folder.path().join("loop")).unwrap();
    let pipe = folder.path().join("pipe.md");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"\xff.md")), "x").unwrap();

    let found = list(folder.path(), &FolderLimits::new());
    assert_eq!(found.files, ["a.md"]);
    assert_eq!(
        reasons(&found),
        [
            ("link.md", "it is a symbolic link", false),
            ("loop", "it is a symbolic link", false),
            ("out", "it is a symbolic link", false),
            ("pipe.md", "it is not a file", false),
            ("\u{fffd}.md", "its name is not Unicode; rename it", true),
        ]
    );
    let reader = FolderReader::open(folder.path()).unwrap();
    for path in ["link.md", "pipe.md"] {
        assert_eq!(reader.read(path, 100).unwrap(), None, "{path}");
    }
    for path in ["out/secret.md", "../secret.md", "/etc/hostname"] {
        assert!(!matches!(reader.read(path, 100), Ok(Some(_))), "{path}");
    }
}

#[test]
fn depth_and_number_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("a/b/c")).unwrap();
    fs::write(folder.path().join("a/b/c/x.md"), "x").unwrap();
    let found = list(folder.path(), &FolderLimits::new().with_depth(2));
    assert_eq!(reasons(&found), [("a/b/c", "it is more than 2 folders deep", true)]);
    let reader = FolderReader::open(folder.path()).unwrap();
    assert_eq!(
        reader.list(&FolderLimits::new().with_entries(4)).unwrap().files,
        ["a/b/c/x.md"]
    );
    let error = reader.list(&FolderLimits::new().with_entries(3)).unwrap_err();
    assert!(error.message().contains("more than 3 files and folders"), "{error}");
    let error = FolderReader::open(&folder.path().join("no")).unwrap_err();
    assert_eq!(error.kind(), FileProblemKind::Unavailable);
}
