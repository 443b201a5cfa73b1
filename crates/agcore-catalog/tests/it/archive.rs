//! [`MediaArchive`]: files that models have made, in a folder.

use std::sync::Arc;

use agcore_catalog::{ArchiveError, Kept, MediaArchive};
use agcore_files::{FileMapping, FileStorage, LocalStorage, StorageError, StorageErrorKind, StorageProvider};
use agcore_llm::{GeneratedImages, Speech, VideoFile, wire::operation::ImageData};
use async_trait::async_trait;
use tempfile::TempDir;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n...";

fn archive() -> (TempDir, MediaArchive) {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::open(folder.path()).unwrap();
    (folder, MediaArchive::new(Arc::new(storage)))
}

fn path(kept: &Kept) -> &str {
    match kept {
        Kept::File(file) => &file.path,
        other => panic!("{other:?}"),
    }
}

fn files(folder: &TempDir) -> usize {
    std::fs::read_dir(folder.path()).unwrap().count()
}

#[tokio::test]
async fn files_are_kept_and_urls_are_passed_on() {
    let (folder, archive) = archive();
    let url = "https://a.example/1.png?signature=secret";
    let images = GeneratedImages::new([
        ImageData::Bytes(PNG.into()),
        ImageData::Url(url.to_owned()),
        ImageData::Bytes(b"RIFF\0\0\0\0WEBPVP8 ".as_slice().into()),
    ]);
    let kept = archive.keep_images("fox", &images).await.unwrap();
    assert_eq!((path(&kept[0]), path(&kept[2])), ("fox-1.png", "fox-3.webp"));
    assert_eq!(kept[1], Kept::Url(url.to_owned()));
    assert!(!format!("{kept:?}").contains("secret"));
    assert_eq!(std::fs::read(folder.path().join("fox-1.png")).unwrap(), PNG);

    let mut speech = Speech::default();
    speech.audio = b"ID3...".as_slice().into();
    assert_eq!(path(&archive.keep_speech("hello", &speech).await.unwrap()), "hello.mp3");
    let video = VideoFile::Bytes(b"\0\0\0\x18ftypmp42".as_slice().into());
    assert_eq!(path(&archive.keep_video("a/film", &video).await.unwrap()), "a/film.mp4");
    let unknown = VideoFile::Bytes(b"<script>".as_slice().into());
    assert_eq!(path(&archive.keep_video("odd", &unknown).await.unwrap()), "odd.bin");
}

#[tokio::test]
async fn limits_are_checked_before_anything_is_written() {
    let (folder, archive) = archive();
    let images = GeneratedImages::new([ImageData::Bytes(PNG.into()), ImageData::Bytes(vec![0; 100].into())]);
    let few = archive.clone().with_max_files(1);
    let error = few.keep_images("fox", &images).await.unwrap_err();
    assert!(matches!(error, ArchiveError::TooMany { files: 2, limit: 1 }), "{error}");
    let small = archive.clone().with_max_bytes(99);
    let error = small.keep_images("fox", &images).await.unwrap_err();
    assert!(
        matches!(error, ArchiveError::TooLarge { bytes: 100, limit: 99 }),
        "{error}"
    );
    assert_eq!(files(&folder), 0);
    let error = archive.keep_images("../fox", &images).await.unwrap_err();
    let ArchiveError::Storage(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.kind(), StorageErrorKind::InvalidPath);
}

/// A storage that is full after one file.
#[derive(Debug)]
struct Full(LocalStorage);

#[async_trait]
impl FileStorage for Full {
    fn provider(&self) -> StorageProvider {
        self.0.provider()
    }

    async fn put(&self, path: &str, content: Vec<u8>) -> Result<FileMapping, StorageError> {
        match path {
            "fox-1.png" => self.0.put(path, content).await,
            _ => self.0.put("../no", content).await,
        }
    }

    async fn get(&self, path: &str, max_bytes: usize) -> Result<Vec<u8>, StorageError> {
        self.0.get(path, max_bytes).await
    }

    async fn delete(&self, path: &str) -> Result<bool, StorageError> {
        self.0.delete(path).await
    }
}

#[tokio::test]
async fn a_reply_is_kept_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Full(LocalStorage::open(folder.path()).unwrap());
    let archive = MediaArchive::new(Arc::new(storage));
    let images = GeneratedImages::new([ImageData::Bytes(PNG.into()), ImageData::Bytes(PNG.into())]);
    archive.keep_images("fox", &images).await.unwrap_err();
    assert_eq!(files(&folder), 0);
}
