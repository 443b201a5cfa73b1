//! Storages, and files from storages.

use std::{fs, sync::Arc};

use agcore_chat::SystemClock;
use agcore_files::{
    FileMapping, FileProblemKind, FileStorage, LocalStorage, OriginFile, StandardPreprocessor, StorageErrorKind,
    StorageProvider, preprocess_all,
};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

#[test]
fn files_are_stored_replaced_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let storage = LocalStorage::open(folder.path()).unwrap();
        let mapping = storage.put("a/b/c.txt", b"one".to_vec()).await.unwrap();
        assert_eq!(mapping, FileMapping::new(StorageProvider::Local, "a/b/c.txt"));
        storage.put("a/b/c.txt", b"two".to_vec()).await.unwrap();
        assert_eq!(storage.get("a/b/c.txt", 3).await.unwrap(), b"two");
        assert_eq!(
            storage.get("a/b/c.txt", 2).await.unwrap_err().kind(),
            StorageErrorKind::TooLarge
        );
        assert!(storage.delete("a/b/c.txt").await.unwrap());
        assert!(!storage.delete("a/b/c.txt").await.unwrap());
        assert_eq!(
            storage.get("a/b/c.txt", 3).await.unwrap_err().kind(),
            StorageErrorKind::NotFound
        );
        assert_eq!(
            storage.get("a/b", 3).await.unwrap_err().kind(),
            StorageErrorKind::NotFound
        );
        // No upload is left behind.
        assert_eq!(fs::read_dir(folder.path().join("a/b")).unwrap().count(), 0);
    });
}

#[test]
fn an_upload_of_another_process_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".agcore-upload-0"), "other").unwrap();
    runtime().block_on(async {
        let storage = LocalStorage::open(folder.path()).unwrap();
        storage.put("x", b"mine".to_vec()).await.unwrap();
        assert_eq!(storage.get("x", 10).await.unwrap(), b"mine");
    });
    assert_eq!(fs::read(folder.path().join(".agcore-upload-0")).unwrap(), b"other");
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret"), "x").unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    runtime().block_on(async {
        let storage = LocalStorage::open(&inside).unwrap();
        let invalid = [
            "",
            "/",
            "/etc/passwd",
            "../secret",
            "a/../../secret",
            "a//b",
            "./a",
            "a/",
            "a\\b",
            "c:x",
            "a\0",
            "..",
            ".agcore-upload-1",
        ];
        for path in invalid {
            assert_eq!(
                storage.get(path, 9).await.unwrap_err().kind(),
                StorageErrorKind::InvalidPath,
                "{path:?}"
            );
            assert_eq!(
                storage.put(path, vec![]).await.unwrap_err().kind(),
                StorageErrorKind::InvalidPath,
                "{path:?}"
            );
            assert_eq!(
                storage.delete(path).await.unwrap_err().kind(),
                StorageErrorKind::InvalidPath,
                "{path:?}"
            );
        }
    });
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret"), "x").unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    std::os::unix::fs::symlink("../secret", inside.join("link")).unwrap();
    std::os::unix::fs::symlink("..", inside.join("up")).unwrap();
    runtime().block_on(async {
        let storage = LocalStorage::open(&inside).unwrap();
        assert!(storage.get("link", 9).await.is_err());
        assert!(storage.get("up/secret", 9).await.is_err());
        assert!(storage.put("up/new", b"x".to_vec()).await.is_err());
        // A link is replaced by the file, and what it points to stays.
        storage.put("link", b"mine".to_vec()).await.unwrap();
        assert_eq!(storage.get("link", 9).await.unwrap(), b"mine");
    });
    assert_eq!(fs::read(folder.path().join("secret")).unwrap(), b"x");
    assert!(!folder.path().join("new").exists());
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let storage = LocalStorage::open(folder.path()).unwrap();
        let good = storage.put("1", b"a,b\n1,2\n".to_vec()).await.unwrap();
        let broken = storage.put("2", b"not a document".to_vec()).await.unwrap();
        let files = [
            OriginFile::new("broken.docx").with_mapping(broken),
            OriginFile::new("missing.txt").with_mapping(FileMapping::new(StorageProvider::Local, "3")),
            OriginFile::new("elsewhere.txt").with_mapping(FileMapping::new(StorageProvider::Aws, "1")),
            OriginFile::new("nowhere.txt"),
            OriginFile::new("good.csv").with_mapping(good),
        ];
        let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new()));
        let found = preprocess_all(&preprocessor, &storage, &files).await;
        assert_eq!(found.tables[0].name, "good.csv");
        let problems: Vec<_> = found
            .other_files
            .iter()
            .map(|other| (other.file.name.as_str(), other.problem.as_ref().unwrap().kind()))
            .collect();
        assert_eq!(
            problems,
            [
                ("broken.docx", FileProblemKind::Broken),
                ("missing.txt", FileProblemKind::Unavailable),
                ("elsewhere.txt", FileProblemKind::Unavailable),
                ("nowhere.txt", FileProblemKind::Unavailable),
            ]
        );
        // The result is data.
        let json = serde_json::to_string(&found).unwrap();
        assert_eq!(
            serde_json::from_str::<agcore_files::Preprocessed>(&json).unwrap(),
            found
        );
    });
}
