//! Uploaded files are exported, erased and deleted when they are old, also after interruptions.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_chat::{Actor, Clock, SystemClock};
use agcore_files::{FileMapping, FileStorage, StorageError, StorageErrorKind, StorageProvider};
use agcore_server::{FileRetention, TrustedProxy, erase_files, export_files, prunable_files, prune_files};
use agcore_session::SessionErrorKind;
use agcore_store::{sqlite::SqliteStore, user_data::UserDataStore};
use agcore_testkit::{clock::ManualClock, scripted::ScriptedProvider};
use async_trait::async_trait;
use http::{Method, StatusCode};
use serde_json::json;
use tokio::sync::Notify;

use crate::{
    files::{Place, upload},
    support::Running,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder of files and a database, with a server that keeps files of several users.
struct Kept {
    place: Place,
    store: Arc<SqliteStore>,
    server: Running,
}

impl Kept {
    async fn new() -> Self {
        let place = Place::new();
        let storage = Arc::new(place.storage.clone());
        Self::with_storage(place, storage).await
    }

    async fn with_storage(place: Place, storage: Arc<dyn FileStorage>) -> Self {
        let path = place.database.path().join("agcore.db");
        let store = Arc::new(SqliteStore::open(path, Arc::new(SystemClock::new())).await.unwrap());
        let proxy = TrustedProxy::new(["127.0.0.1".parse().unwrap()]);
        let server = place
            .server(&ScriptedProvider::new([]))
            .with_store(Arc::clone(&store) as _)
            .with_files(storage)
            .with_authenticator(Arc::new(proxy));
        let server = Running::start(server).await;
        Self { place, store, server }
    }

    async fn upload(&self, name: &str, user: &str) {
        let answer = upload(&self.server, name, name.as_bytes(), Some(user)).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    }

    async fn names(&self, user: &str) -> Vec<String> {
        let user = [("x-agcore-user", user)];
        let listed = self
            .server
            .with(Method::GET, "/api/v1/agent/files", &user, None)
            .await
            .json();
        let files = listed["files"].as_array().unwrap().iter();
        files.map(|file| file["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// Returns the user of requests with this name.
fn user(name: &str) -> Actor {
    Actor::user(name)
}

/// A storage whose next deletions fail, except for some.
#[derive(Debug)]
struct Failing<'s> {
    storage: &'s dyn FileStorage,
    left: AtomicUsize,
}

#[async_trait]
impl FileStorage for Failing<'_> {
    fn provider(&self) -> StorageProvider {
        self.storage.provider()
    }

    async fn put(&self, path: &str, content: Vec<u8>) -> Result<FileMapping, StorageError> {
        self.storage.put(path, content).await
    }

    async fn get(&self, path: &str, max_bytes: usize) -> Result<Vec<u8>, StorageError> {
        self.storage.get(path, max_bytes).await
    }

    async fn delete(&self, path: &str) -> Result<bool, StorageError> {
        if self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .is_err()
        {
            return Err(StorageError::new(StorageErrorKind::Unavailable, "the network is down"));
        }
        self.storage.delete(path).await
    }
}

/// A storage that stores and never answers.
#[derive(Debug)]
struct Silent {
    storage: Arc<dyn FileStorage>,
    stored: Arc<Notify>,
}

#[async_trait]
impl FileStorage for Silent {
    fn provider(&self) -> StorageProvider {
        self.storage.provider()
    }

    async fn put(&self, path: &str, content: Vec<u8>) -> Result<FileMapping, StorageError> {
        self.storage.put(path, content).await?;
        self.stored.notify_one();
        std::future::pending().await
    }

    async fn get(&self, path: &str, max_bytes: usize) -> Result<Vec<u8>, StorageError> {
        self.storage.get(path, max_bytes).await
    }

    async fn delete(&self, path: &str) -> Result<bool, StorageError> {
        self.storage.delete(path).await
    }
}

/// A clock that is ahead of that of the server.
fn ahead(by: Duration) -> ManualClock {
    let clock = ManualClock::new();
    let now = SystemClock::new().now();
    clock.advance(now.duration_since(clock.now()).unwrap() + by);
    clock
}

#[tokio::test]
async fn files_of_a_user_are_exported_and_erased() {
    let kept = Kept::new().await;
    for (name, user) in [("SECRET-1.txt", "ann"), ("SECRET-2.txt", "ann"), ("other.txt", "bob")] {
        kept.upload(name, user).await;
    }
    let store: &dyn UserDataStore = &*kept.store;
    let rows = export_files(store, &user("ann")).await.unwrap();
    assert_eq!((rows.len(), &rows[0]["row"]), (2, &json!("file")));
    assert_eq!(
        (&rows[0]["file"]["name"], &rows[0]["file"]["size"]),
        (&json!("SECRET-1.txt"), &json!(12))
    );
    let path = rows[1]["file"]["path"].as_str().unwrap();
    assert_eq!(kept.place.storage.get(path, 100).await.unwrap(), b"SECRET-2.txt");
    assert!(export_files(store, &user("unknown")).await.unwrap().is_empty());

    let error = erase_files(store, None, &user("ann")).await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::InvalidState);
    assert_eq!((kept.names("ann").await.len(), kept.place.count()), (2, 3));

    assert_eq!(
        erase_files(store, Some(&kept.place.storage), &user("ann"))
            .await
            .unwrap(),
        2
    );
    assert_eq!((kept.names("ann").await, kept.place.count()), (Vec::new(), 1));
    assert_eq!(kept.names("bob").await, ["other.txt"]);
    assert_eq!(store.streams("server/files/", None, 9).await.unwrap().len(), 1);
    assert_eq!(erase_files(store, None, &user("ann")).await.unwrap(), 0);
    kept.server.stop().await;
}

#[tokio::test]
async fn an_erasure_that_was_interrupted_is_completed_by_the_next() {
    let kept = Kept::new().await;
    for name in ["1.txt", "2.txt", "3.txt"] {
        kept.upload(name, "ann").await;
    }
    let store: &dyn UserDataStore = &*kept.store;
    let failing = Failing {
        storage: &kept.place.storage,
        left: AtomicUsize::new(1),
    };
    let error = erase_files(store, Some(&failing), &user("ann")).await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::Storage, "{error}");
    assert_eq!(kept.place.count(), 2, "one was deleted");
    assert_eq!(
        erase_files(store, Some(&kept.place.storage), &user("ann"))
            .await
            .unwrap(),
        3
    );
    assert_eq!((kept.names("ann").await, kept.place.count()), (Vec::new(), 0));
    kept.server.stop().await;
}

#[tokio::test]
async fn nothing_is_left_of_an_upload_that_did_not_end() {
    for erases in [true, false] {
        let (place, stored) = (Place::new(), Arc::new(Notify::new()));
        let storage = Arc::new(Silent {
            storage: Arc::new(place.storage.clone()),
            stored: Arc::clone(&stored),
        });
        let kept = Kept::with_storage(place, storage).await;
        tokio::select! {
            _ = upload(&kept.server, "a.txt", b"SECRET", Some("ann")) => panic!("the upload has ended"),
            () = stored.notified() => {}
        }
        // The process ends here.
        kept.server.task.abort();
        let store: &dyn UserDataStore = &*kept.store;
        assert_eq!(kept.place.count(), 1);
        assert!(
            export_files(store, &user("ann")).await.unwrap().is_empty(),
            "the user does not have it"
        );
        if erases {
            assert_eq!(
                erase_files(store, Some(&kept.place.storage), &user("ann"))
                    .await
                    .unwrap(),
                0
            );
        } else {
            let prune = async |clock| prune_files(store, &kept.place.storage, &clock, &FileRetention::new()).await;
            assert_eq!(prune(ahead(DAY / 2)).await.unwrap(), 0, "it may still end");
            assert_eq!(prune(ahead(2 * DAY)).await.unwrap(), 1);
        }
        assert_eq!(kept.place.count(), 0);
    }
}

#[tokio::test]
async fn old_files_are_deleted_by_age_and_count() {
    let kept = Kept::new().await;
    for (name, user) in [("1.txt", "ann"), ("2.txt", "ann"), ("3.txt", "ann"), ("4.txt", "bob")] {
        kept.upload(name, user).await;
    }
    let store: &dyn UserDataStore = &*kept.store;
    let prune = async |rules: FileRetention, age| {
        let clock = ahead(age);
        let counted = prunable_files(store, &clock, &rules).await.unwrap();
        assert_eq!(
            counted,
            prune_files(store, &kept.place.storage, &clock, &rules).await.unwrap()
        );
        assert_eq!(prunable_files(store, &clock, &rules).await.unwrap(), 0);
        counted
    };
    let old = FileRetention::new().with_age(90 * DAY);
    assert_eq!(prune(old, 89 * DAY).await, 0);
    assert_eq!(prune(FileRetention::new(), 1000 * DAY).await, 0);
    assert_eq!(prune(FileRetention::new().with_per_user(1), DAY).await, 2);
    assert_eq!(
        (kept.names("ann").await, kept.place.count()),
        (vec!["3.txt".to_owned()], 2)
    );
    assert_eq!(prune(old, 91 * DAY).await, 2);
    assert_eq!(
        (kept.names("ann").await, kept.names("bob").await, kept.place.count()),
        (vec![], vec![], 0)
    );
    kept.server.stop().await;
}

#[tokio::test]
async fn a_server_deletes_old_files_itself() {
    let kept = Kept::new().await;
    kept.upload("a.txt", "ann").await;
    kept.server.stop().await;
    let store = Arc::clone(&kept.store);
    let clock = Arc::new(ahead(DAY));
    let server = kept
        .place
        .server(&ScriptedProvider::new([]))
        .with_store(Arc::clone(&store) as _)
        .with_clock(clock)
        .with_file_retention(FileRetention::new().with_age(DAY / 2), Arc::clone(&store) as _);
    let server = Running::start(server).await;
    while !export_files(&*store, &user("ann")).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(kept.place.count(), 0);
    server.stop().await;
}
