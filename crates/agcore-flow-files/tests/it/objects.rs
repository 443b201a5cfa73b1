//! Files in buckets: a server with the API of Amazon S3 on loopback, and one that misbehaves.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use agcore_chat::SystemClock;
use agcore_files::{
    BucketPlace, FileMapping, FileStorage, ObjectKeys, ObjectStorage, StorageError, StorageErrorKind, StorageProvider,
};
use agcore_flow_files::HttpObjects;
use agcore_llm::transport::http::{HttpOptions, HttpTransport, Proxy};
use agcore_testkit::mock_server::{MockOptions, MockServer, Reply, Script};

/// The server, which ends with this value.
struct Moto {
    process: Child,
    port: u16,
    keys: ObjectKeys,
    id: String,
}

impl Moto {
    /// Starts the server, or reports that its package is not installed. It checks the signatures of all requests, or of none.
    #[allow(clippy::print_stdout, reason = "reports which package is absent")]
    fn start(checks_signatures: bool) -> Option<Self> {
        let found = Command::new("python3")
            .args(["-c", "import moto.server, boto3"])
            .output();
        if !found.is_ok_and(|output| output.status.success()) {
            println!("skipped: the Python package `moto[server]` is not installed");
            return None;
        }
        let mut process = Command::new("python3")
            .args([
                "-c",
                include_str!("objects.py"),
                if checks_signatures { "4" } else { "inf" },
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let line = lines
            .find(|line| line.split(' ').count() == 3)
            .expect("the server starts");
        let words: Vec<&str> = line.split(' ').collect();
        Some(Self {
            process,
            port: words[0].parse().unwrap(),
            keys: ObjectKeys::new(words[1], words[2]),
            id: words[1].to_owned(),
        })
    }

    fn bucket(&self, bucket: &str, keys: ObjectKeys) -> ObjectStorage {
        storage(&format!("http://127.0.0.1:{}", self.port), bucket, keys)
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn storage(server: &str, bucket: &str, keys: ObjectKeys) -> ObjectStorage {
    let place = BucketPlace::at_server(StorageProvider::Aws, server, bucket, "us-east-1").unwrap();
    let options = HttpOptions::new(place.server()).with_proxy(Proxy::None);
    let transport = HttpObjects::new(Arc::new(HttpTransport::new(options).unwrap()));
    ObjectStorage::new(place, keys, transport, Arc::new(SystemClock::new()))
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, StorageError>, kind: StorageErrorKind, part: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error:?}");
    assert!(error.to_string().contains(part), "{error}");
}

#[tokio::test]
async fn files_are_stored_replaced_and_deleted() {
    let Some(moto) = Moto::start(true) else { return };
    let files = moto.bucket("files", moto.keys.clone());
    store_and_delete(&files, &["a.txt", "uploads/7/a-b_c~d.csv", &"x".repeat(900)]).await;
    let large: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[1]).collect();
    files.put("large", large.clone()).await.unwrap();
    assert_eq!(files.get("large", large.len()).await.unwrap(), large);
    refused(
        files.get("large", large.len() - 1).await,
        StorageErrorKind::TooLarge,
        "larger",
    );
    files.put("empty", Vec::new()).await.unwrap();
    assert_eq!(files.get("empty", 0).await.unwrap(), b"");
}

#[tokio::test]
async fn paths_have_any_characters() {
    // moto computes wrong signatures for escaped paths. The unit tests compare those with the ones of botocore.
    let Some(moto) = Moto::start(false) else { return };
    let files = moto.bucket("files", moto.keys.clone());
    store_and_delete(&files, &["uploads/7 & 8/ü 日本+~%25.csv", "a?b#c=d.txt", "'\"<>.txt"]).await;
}

async fn store_and_delete(files: &ObjectStorage, paths: &[&str]) {
    for path in paths.iter().copied() {
        let mapping = files.put(path, b"one".to_vec()).await.unwrap();
        assert_eq!(mapping, FileMapping::new(StorageProvider::Aws, path));
        files.put(path, b"two!".to_vec()).await.unwrap();
        assert_eq!(files.get(path, 4).await.unwrap(), b"two!", "{path}");
        refused(
            files.get(path, 3).await,
            StorageErrorKind::TooLarge,
            "larger than 3 bytes",
        );
        assert!(files.delete(path).await.unwrap(), "{path}");
        assert!(!files.delete(path).await.unwrap(), "{path}");
        refused(files.get(path, 4).await, StorageErrorKind::NotFound, "there is no file");
    }
}

#[tokio::test]
async fn wrong_keys_and_buckets_are_clear_errors() {
    use StorageErrorKind::Misconfigured;
    let Some(moto) = Moto::start(true) else { return };
    let missing = moto.bucket("missing", moto.keys.clone());
    refused(missing.put("a", vec![1]).await, Misconfigured, "no such bucket");
    refused(missing.get("a", 1).await, Misconfigured, "no such bucket");
    refused(missing.delete("a").await, Misconfigured, "no such bucket");
    for keys in [
        ObjectKeys::new("AKIAUNKNOWN", "another-secret"),
        ObjectKeys::new(&moto.id, "another-secret"),
    ] {
        let wrong = moto.bucket("files", keys);
        for error in [
            wrong.put("a", vec![1]).await.unwrap_err(),
            wrong.get("a", 1).await.unwrap_err(),
            wrong.delete("a").await.unwrap_err(),
        ] {
            let text = format!("{error} {error:?} {wrong:?}");
            assert_eq!(error.kind(), Misconfigured, "{text}");
            assert!(
                text.contains("refuses the keys") && !text.contains("another-secret"),
                "{text}"
            );
        }
    }
    let files = moto.bucket("files", ObjectKeys::new("a\nb", "c"));
    refused(files.get("a", 1).await, Misconfigured, "cannot be sent");
}

#[tokio::test]
async fn hostile_paths_are_never_sent() {
    let server = MockServer::start(Script::new([])).await.unwrap();
    let files = storage(&server.root_url(), "files", ObjectKeys::new("id", "secret"));
    let long = "x".repeat(1025);
    for path in [
        "",
        "..",
        "../a",
        "a/../b",
        "/etc/passwd",
        "a//b",
        "a/",
        "a\0b",
        "a\\b",
        "c:d",
        "a\nb",
        &long,
    ] {
        refused(
            files.get(path, 1).await,
            StorageErrorKind::InvalidPath,
            "use a relative path",
        );
        refused(
            files.put(path, vec![1]).await,
            StorageErrorKind::InvalidPath,
            "use a relative path",
        );
        refused(
            files.delete(path).await,
            StorageErrorKind::InvalidPath,
            "use a relative path",
        );
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn servers_that_misbehave_are_errors() {
    let keys = || ObjectKeys::new("id", "secret");
    let script = Script::new([
        Reply::html(503, "<html>"),
        Reply::html(418, "<Code>\u{1b}[2J</Code>"),
        Reply::redirect(301, "http://127.0.0.1:1/"),
        Reply::raw(200, [("content-type", "text/plain")], vec![b'x'; 200_000]),
    ]);
    let options = MockOptions::new().with_route("GET", "/files/a", script);
    let server = MockServer::start_with(options, Script::new([])).await.unwrap();
    let files = storage(&server.root_url(), "files", keys());
    refused(files.get("a", 1).await, StorageErrorKind::Unavailable, "HTTP 503");
    refused(files.get("a", 1).await, StorageErrorKind::Misconfigured, "(HTTP 418)");
    refused(
        files.get("a", 1).await,
        StorageErrorKind::Misconfigured,
        "redirects are not followed",
    );
    refused(files.get("a", 100_000).await, StorageErrorKind::TooLarge, "larger");
    let requests = server.requests();
    assert_eq!((requests.len(), requests[3].path()), (4, "/files/a"));
    assert!(
        requests[3]
            .header("authorization")
            .unwrap()
            .starts_with("AWS4-HMAC-SHA256 Credential=id/")
    );
    let absent = storage("http://127.0.0.1:9", "files", keys());
    refused(
        absent.get("a", 1).await,
        StorageErrorKind::Unavailable,
        "cannot be reached",
    );
}
