//! The limits of files of a tenant, on each kind of store.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Actor, SystemClock};
use agcore_server::{FileRetention, Limits, TrustedProxy, erase_files, prune_files};
use agcore_session::Journal;
use agcore_store::sqlite::SqliteStore;
use agcore_testkit::scripted::ScriptedProvider;
use http::{Method, StatusCode};
use serde_json::Value;

use crate::{
    files::{Place, upload, upload_with},
    support::{InStore, Running, Store, store},
};

/// A server whose users are named by a proxy, and its files.
struct Served {
    place: Place,
    server: Running,
}

impl Served {
    async fn new(store: Store, limits: Limits) -> Self {
        let place = Place::new();
        let server = Self::start(&place, store, limits).await;
        Self { place, server }
    }

    async fn start(place: &Place, store: Store, limits: Limits) -> Running {
        let proxy = TrustedProxy::new(["127.0.0.1".parse().unwrap()]);
        let server = place
            .server(&ScriptedProvider::new([]))
            .in_store(&store)
            .with_limits(limits)
            .with_authenticator(Arc::new(proxy));
        Running::start(server).await
    }

    /// Uploads a file of this size. Returns its id, or the code of the problem.
    async fn upload(&self, user: &str, size: usize) -> Result<String, String> {
        let answer = upload(&self.server, "a.txt", &vec![b'x'; size], Some(user)).await;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let json = answer.json();
        match answer.status {
            StatusCode::CREATED => Ok(text(&json["fileId"])),
            _ => Err(text(&json["code"])),
        }
    }

    async fn delete(&self, user: &str, file: &str) {
        let path = format!("/api/v1/agent/files/{file}");
        let user = [("x-agcore-user", user)];
        let deleted = self.server.with(Method::DELETE, &path, &user, None).await;
        assert_eq!(deleted.status, StatusCode::NO_CONTENT);
    }
}

fn full() -> Result<String, String> {
    Err("too_many_files".to_owned())
}

/// Returns a store in memory or on a database server, whichever the tests use, and one in a file.
async fn stores(folder: &tempfile::TempDir) -> [Store; 2] {
    let path = folder.path().join("agcore.db");
    let sqlite = SqliteStore::open(path, Arc::new(SystemClock::new())).await.unwrap();
    [store(), Arc::new(sqlite)]
}

#[tokio::test]
async fn the_files_of_a_tenant_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder).await {
        let limits = Limits::new().with_max_files_per_tenant(3);
        let served = Served::new(Arc::clone(&store), limits.clone()).await;
        let first = served.upload("ann", 1).await.unwrap();
        served.upload("ann", 1).await.unwrap();
        served.upload("bob", 1).await.unwrap();
        for user in ["ann", "bob", "eve"] {
            assert_eq!(served.upload(user, 1).await, full());
        }
        // Another tenant has places of its own.
        let headers = [("x-agcore-user", "ann"), ("x-agcore-tenant", "acme")];
        let other = upload_with(&served.server, "a.txt", b"x", &headers).await;
        assert_eq!(other.status, StatusCode::CREATED, "{}", other.text);
        served.delete("ann", &first).await;
        served.upload("eve", 1).await.unwrap();
        assert_eq!(served.upload("ann", 1).await, full());
        assert_eq!(served.place.count(), 4, "nothing is left of what was refused");
        // A restart forgets nothing.
        let Served { place, server } = served;
        server.stop().await;
        let server = Served::start(&place, store, limits).await;
        let served = Served { place, server };
        assert_eq!(served.upload("eve", 1).await, full());
        served.server.stop().await;
    }
}

#[tokio::test]
async fn the_bytes_of_a_tenant_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder).await {
        let limits = Limits::new().with_max_file_bytes_per_tenant(100);
        let served = Served::new(store, limits).await;
        let large = served.upload("ann", 60).await.unwrap();
        assert_eq!(served.upload("bob", 41).await, full());
        served.upload("bob", 40).await.unwrap();
        assert_eq!(served.upload("ann", 1).await, full());
        served.delete("ann", &large).await;
        served.upload("bob", 60).await.unwrap();
        assert_eq!(served.place.count(), 2);
        served.server.stop().await;
    }
}

#[tokio::test]
async fn concurrent_uploads_of_many_users_take_no_more_than_the_tenant_has() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder).await {
        let limits = Limits::new().with_max_files_per_tenant(5);
        let served = Served::new(store, limits).await;
        let users: Vec<String> = (0..12).map(|number| format!("user-{}", number % 6)).collect();
        let uploads = users.iter().map(|user| served.upload(user, 1));
        let answers = futures_util::future::join_all(uploads).await;
        let stored = answers.iter().filter(|answer| answer.is_ok()).count();
        assert_eq!((stored, served.place.count()), (5, 5), "{answers:?}");
        assert!(
            answers.iter().all(|answer| answer.is_ok() || *answer == full()),
            "{answers:?}"
        );
        served.server.stop().await;
    }
}

#[tokio::test]
async fn files_that_are_erased_or_pruned_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agcore.db");
    let store = Arc::new(SqliteStore::open(path, Arc::new(SystemClock::new())).await.unwrap());
    let limits = Limits::new().with_max_files_per_tenant(4);
    let served = Served::new(Arc::clone(&store) as Store, limits).await;
    for user in ["ann", "ann", "bob", "bob"] {
        served.upload(user, 1).await.unwrap();
    }
    assert_eq!(served.upload("eve", 1).await, full());
    let storage = &served.place.storage;
    erase_files(&*store, Some(storage), &Actor::user("ann")).await.unwrap();
    served.upload("eve", 1).await.unwrap();
    let rules = FileRetention::new()
        .with_per_user(1)
        .with_age(Duration::from_secs(1000));
    assert_eq!(
        prune_files(&*store, storage, &SystemClock::new(), &rules)
            .await
            .unwrap(),
        1
    );
    for _ in 0..2 {
        served.upload("eve", 1).await.unwrap();
    }
    assert_eq!(served.upload("eve", 1).await, full());
    // The record of a tenant contains no names.
    let kept = Journal::read(&*store, "server/file_totals/local", 1).await.unwrap();
    let text = serde_json::to_string(&kept.last().unwrap().record.data).unwrap();
    assert!(!text.contains("eve") && !text.contains("bob"), "{text}");
    served.server.stop().await;
}
