//! Uploads: limits, hostile names, owners, and the files of runs.

use std::sync::Arc;

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_chat::SystemClock;
use agcore_files::{FileKind, LocalStorage, StandardPreprocessor};
use agcore_flow_files::{FileFlow, FlowFile};
use agcore_server::{Limits, Server, ServerBuilder, TrustedProxy};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::support::{Answer, FlowStore, InStore, Running, agent, flow_store, input, store, text_of};

const PLANNER: &str = "
version: 1
kind: planner
agents: {helper: {role: You help., goal: Help well., backstory: ''}}
tasks:
  planner: {agent: helper, description: '{{request}} {{tables}}', expected_output: An action.}
  reflection: {agent: helper, description: '{{actions}}', expected_output: A judgement.}
  output: {agent: helper, description: '{{request}} {{tables}}', expected_output: An answer.}
";

pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) storage: LocalStorage,
    /// A folder for a database.
    pub(crate) database: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let storage = LocalStorage::open(folder.path()).unwrap();
        let database = tempfile::tempdir().unwrap();
        Self {
            folder,
            storage,
            database,
        }
    }

    pub(crate) fn server(&self, provider: &ScriptedProvider) -> ServerBuilder {
        Server::builder()
            .with_agent(
                "ada",
                agent(provider).build().unwrap(),
                AgentSpec::new("ada", "Be Ada."),
            )
            .in_store(&store())
            .with_files(Arc::new(self.storage.clone()))
    }

    pub(crate) fn count(&self) -> usize {
        fn files(folder: &std::path::Path) -> usize {
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
        }
        files(self.folder.path())
    }
}

pub(crate) async fn upload(server: &Running, name: &str, content: &[u8], user: Option<&str>) -> Answer {
    let headers = user.map(|user| ("x-agcore-user", user));
    upload_with(server, name, content, headers.as_slice()).await
}

pub(crate) async fn upload_with(server: &Running, name: &str, content: &[u8], headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(format!("/api/v1/agent/files?name={name}"))
        .header("host", "localhost")
        .header("content-type", "application/octet-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server
        .request(request.body(Full::new(Bytes::copy_from_slice(content))).unwrap())
        .await
}

#[tokio::test]
async fn files_are_stored_listed_and_deleted() {
    let place = Place::new();
    let server = Running::start(place.server(&ScriptedProvider::new([]))).await;
    let stored = upload(&server, "%E4%BB%B7%E6%A0%BC.csv", b"a,b\n1,2\n", None).await;
    assert_eq!(stored.status, StatusCode::CREATED, "{}", stored.text);
    let stored = stored.json();
    assert_eq!(
        (&stored["name"], &stored["type"], &stored["size"]),
        (&json!("价格.csv"), &json!("csv"), &json!(8))
    );
    let listed = server.get("/api/v1/agent/files").await.json();
    assert_eq!(listed["files"], json!([stored]));
    let path = format!("/api/v1/agent/files/{}", stored["fileId"].as_str().unwrap());
    assert_eq!(
        server.with(Method::DELETE, &path, &[], None).await.status,
        StatusCode::NO_CONTENT
    );
    server
        .with(Method::DELETE, &path, &[], None)
        .await
        .assert_problem(404, "not_found");
    assert_eq!(
        (server.get("/api/v1/agent/files").await.json(), place.count()),
        (json!({"files": []}), 0)
    );
    server.stop().await;
}

#[tokio::test]
async fn uploads_are_limited_and_names_are_checked() {
    let place = Place::new();
    let limits = Limits::new()
        .with_max_file_bytes(16)
        .with_max_files_per_user(2)
        .with_file_kinds([FileKind::Text, FileKind::Csv]);
    let server = Running::start(place.server(&ScriptedProvider::new([])).with_limits(limits)).await;
    for name in [
        "",
        "..%2Fetc",
        "a%2Fb.txt",
        "a%5Cb.txt",
        "a%00.txt",
        "a%0D%0Ab.txt",
        "%E2%80%AEfdp.exe",
        "%FF",
    ] {
        upload(&server, name, b"x", None)
            .await
            .assert_problem(400, "invalid_request");
    }
    upload(&server, "a.txt", b"", None)
        .await
        .assert_problem(400, "invalid_body");
    upload(&server, "a.txt", &[b'x'; 17], None)
        .await
        .assert_problem(413, "body_too_large");
    // The content decides, not the name.
    upload(&server, "a.txt", b"%PDF-1.7\n", None)
        .await
        .assert_problem(415, "unsupported_media_type");
    upload(&server, "a.txt", b"\x89PNG\r\n\x1a\n\0", None)
        .await
        .assert_problem(415, "unsupported_media_type");
    for name in ["a.txt", "a.txt"] {
        assert_eq!(
            upload(&server, name, b"0123456789abcdef", None).await.status,
            StatusCode::CREATED
        );
    }
    upload(&server, "c.txt", b"x", None)
        .await
        .assert_problem(409, "too_many_files");
    assert_eq!(place.count(), 2);
    server.stop().await;
}

#[tokio::test]
async fn concurrent_uploads_respect_the_limit() {
    let place = Place::new();
    let limits = Limits::new().with_max_files_per_user(3);
    let server = Running::start(place.server(&ScriptedProvider::new([])).with_limits(limits)).await;
    let uploads = (0..8).map(|_| upload(&server, "a.txt", b"x", None));
    let answers = futures_util::future::join_all(uploads).await;
    let stored = answers.iter().filter(|answer| answer.status == StatusCode::CREATED);
    assert_eq!((stored.count(), place.count()), (3, 3));
    server.stop().await;
}

#[tokio::test]
async fn files_belong_to_their_user() {
    let place = Place::new();
    let proxy = TrustedProxy::new(["127.0.0.1".parse().unwrap()]);
    let server = place
        .server(&ScriptedProvider::new([]))
        .with_authenticator(Arc::new(proxy));
    let server = Running::start(server).await;
    let stored = upload(&server, "a.txt", b"x", Some("ann")).await.json();
    let path = format!("/api/v1/agent/files/{}", stored["fileId"].as_str().unwrap());
    let bob = [("x-agcore-user", "bob")];
    let unknown = server
        .with(Method::DELETE, "/api/v1/agent/files/file-0", &bob, None)
        .await;
    let foreign = server.with(Method::DELETE, &path, &bob, None).await;
    foreign.assert_problem(404, "not_found");
    assert_eq!(foreign.text, unknown.text);
    let listed = server.with(Method::GET, "/api/v1/agent/files", &bob, None).await;
    assert_eq!(listed.json(), json!({"files": []}));
    upload(&server, "a.txt", b"x", None)
        .await
        .assert_problem(401, "unauthenticated");
    assert_eq!(place.count(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_server_without_storage_keeps_no_files() {
    let provider = ScriptedProvider::new([]);
    let server = Server::builder()
        .with_agent(
            "ada",
            agent(&provider).build().unwrap(),
            AgentSpec::new("ada", "Be Ada."),
        )
        .in_store(&store());
    let server = Running::start(server).await;
    upload(&server, "a.txt", b"x", None)
        .await
        .assert_problem(404, "not_found");
    server.get("/api/v1/agent/files").await.assert_problem(404, "not_found");
    server.stop().await;
}

#[tokio::test]
async fn a_flow_reads_the_files_of_its_run() {
    let place = Place::new();
    let plan = json!({"summary": "All is there.", "next": "finish", "calls": []});
    let provider = ScriptedProvider::new([ScriptStep::text(plan.to_string()), ScriptStep::text("It is 2.")]);
    let file = FlowFile::parse("files.flow.yaml", PLANNER, |_| Err("there are no other files".into())).unwrap();
    let bundle = AgentBuilder::new().with_provider(provider.clone()).build().unwrap();
    let flow = FileFlow::builder(file, bundle).with_files(
        StandardPreprocessor::new(Arc::new(SystemClock::new())),
        place.storage.clone(),
    );
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    let server = Server::builder()
        .with_flow("planner", flow)
        .with_agent(
            "ada",
            agent(&provider).build().unwrap(),
            AgentSpec::new("ada", "Be Ada."),
        )
        .in_store(&store)
        .with_checkpoints(checkpoints)
        .with_files(Arc::new(place.storage.clone()));
    let server = Running::start(server).await;
    let stored = upload(&server, "prices.csv", b"name,price\ntea,2\n", None).await.json();
    let with_files = |files: Value, agent: &str| {
        let mut body = input("t", "r1", "What does tea cost?");
        body["forwardedProps"] = json!({"files": files, "agent": agent});
        body
    };
    for (files, agent, code) in [
        (json!(["file-0"]), "planner", "not_found"),
        (json!("prices.csv"), "planner", "invalid_request"),
        (json!([stored["fileId"]]), "ada", "invalid_request"),
    ] {
        let refused = server.post("/api/v1/agent/run", &with_files(files, agent)).await;
        assert_eq!(refused.json()["code"], code);
    }
    let events = server.run(&with_files(json!([stored["fileId"]]), "planner")).await;
    assert_eq!(text_of(&events), "It is 2.", "{events:#?}");
    let asked = provider.requests();
    let seen: String = asked[0]
        .messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert!(seen.contains("tea") && seen.contains("price"), "{seen}");
    provider.assert_done();
    server.stop().await;
}
