//! A server on loopback, and a client of it.

use std::{net::SocketAddr, sync::Arc};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_chat::{SystemClock, ToolCall};
use agcore_server::{Server, ServerBuilder, ServerError};
use agcore_session::{CheckpointStore, InMemorySessionStore, SessionStore};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{postgres, shared};

pub(crate) type Store = Arc<dyn SessionStore>;

pub(crate) trait InStore {
    /// Sets the store. If the tests are those of shared runs, the server shares them.
    fn in_store(self, store: &Store) -> Self;
}

impl InStore for ServerBuilder {
    fn in_store(self, store: &Store) -> Self {
        let builder = self.with_store(Arc::clone(store));
        match shared::is_tested() {
            true => builder.with_sharing(shared::sharing()),
            false => builder,
        }
    }
}

/// A server that runs in a task.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<Result<(), ServerError>>,
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

/// A stream of events that is read piece by piece.
pub(crate) struct Events {
    body: Incoming,
    read: String,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
}

/// Returns an empty store, in memory or in the database server that the tests use.
pub(crate) fn store() -> Store {
    if let Some(url) = postgres::url() {
        return postgres::open(&url);
    }
    Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())))
}

/// A store of sessions that also keeps the checkpoints of flows.
pub(crate) struct FlowStore {
    pub(crate) sessions: Store,
    pub(crate) checkpoints: Arc<dyn CheckpointStore>,
}

impl FlowStore {
    /// Lets a server use the store.
    pub(crate) fn add_to(&self, builder: ServerBuilder) -> ServerBuilder {
        builder
            .in_store(&self.sessions)
            .with_checkpoints(Arc::clone(&self.checkpoints))
    }

    /// Wraps one store.
    pub(crate) fn of<T: SessionStore + CheckpointStore + 'static>(store: Arc<T>) -> Self {
        Self {
            sessions: Arc::clone(&store) as Store,
            checkpoints: store,
        }
    }
}

/// Returns an empty store that also keeps checkpoints.
pub(crate) fn flow_store() -> FlowStore {
    match postgres::url() {
        Some(url) => FlowStore::of(postgres::open(&url)),
        None => FlowStore::of(Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())))),
    }
}

/// Returns an agent with a tool that runs at once, and one that needs an approval.
pub(crate) fn agent(provider: &ScriptedProvider) -> AgentBuilder {
    AgentBuilder::new()
        .with_provider(provider.clone())
        .with_tool(typed("say", "Says it.", |_: NoArguments| async { Ok("said") }))
        .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
}

pub(crate) fn builder(provider: &ScriptedProvider, store: &Store) -> ServerBuilder {
    let bundle = agent(provider).build().unwrap();
    Server::builder()
        .with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."))
        .in_store(store)
}

pub(crate) fn call(id: &str, name: &str) -> ToolCall {
    ToolCall::function(id, name, "{}")
}

pub(crate) fn texts<const N: usize>(texts: [&str; N]) -> ScriptedProvider {
    ScriptedProvider::new(texts.map(ScriptStep::text))
}

pub(crate) fn input(thread: &str, run: &str, text: &str) -> Value {
    json!({
        "threadId": thread, "runId": run, "protocolVersion": "1.0", "tools": [], "context": [], "state": {},
        "messages": [{"id": format!("{run}-m"), "role": "user", "content": text}], "forwardedProps": {},
    })
}

impl Running {
    pub(crate) async fn start(builder: ServerBuilder) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::start_on(listener, builder)
    }

    pub(crate) fn start_on(listener: TcpListener, builder: ServerBuilder) -> Self {
        let server = builder.build().unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move { server.serve(listener, stopped).await });
        Self { address, stop, task }
    }

    /// Starts a worker that reports its state.
    pub(crate) async fn start_worker(builder: ServerBuilder) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = builder.build().unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move { server.work_and_report(listener, stopped).await });
        Self { address, stop, task }
    }

    /// Ends the server as if its process was killed.
    pub(crate) async fn kill(self) {
        self.task.abort();
        drop(self.task.await);
    }

    /// Stops the server and waits for its end.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap().unwrap();
    }

    async fn open(&self, request: Request<Full<Bytes>>) -> http::Response<Incoming> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await.unwrap()
    }

    pub(crate) async fn request(&self, request: Request<Full<Bytes>>) -> Answer {
        let response = self.open(request).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.request(build(Method::GET, path, &[], None)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.request(build(Method::POST, path, &[], Some(body))).await
    }

    pub(crate) async fn with(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Answer {
        self.request(build(method, path, headers, body)).await
    }

    /// Opens a stream of events.
    pub(crate) async fn stream(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Events {
        let response = self.open(build(method, path, headers, body)).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events {
            body: response.into_body(),
            read: String::new(),
        }
    }

    /// Posts a run and returns its events.
    pub(crate) async fn run(&self, input: &Value) -> Vec<Value> {
        let events = self.stream(Method::POST, "/api/v1/agent/run", &[], Some(input)).await;
        events.rest().await.into_iter().map(|event| event.data).collect()
    }

    /// Follows a run to its end, after an event.
    pub(crate) async fn follow(&self, thread: &str, run: &str, last: Option<u64>) -> Vec<Event> {
        let events = self.follow_open(thread, run, last).await;
        events.rest().await
    }

    pub(crate) async fn follow_open(&self, thread: &str, run: &str, last: Option<u64>) -> Events {
        let path = format!("/api/v1/agent/runs/{thread}/events?runId={run}");
        let id = last.map(|id| id.to_string());
        let headers: Vec<_> = id.iter().map(|id| ("last-event-id", id.as_str())).collect();
        self.stream(Method::GET, &path, &headers, None).await
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Asserts that the answer is a problem with this code, in the documented form.
    #[track_caller]
    pub(crate) fn assert_problem(&self, status: u16, code: &str) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(
            self.headers["content-type"], "application/problem+json",
            "{}",
            self.text
        );
        let body = self.json();
        assert_eq!(
            (&body["code"], &body["status"]),
            (&json!(code), &json!(status)),
            "{}",
            self.text
        );
        assert!(body["detail"].is_string() && body["title"].is_string(), "{}", self.text);
        assert_eq!(self.headers.contains_key("retry-after"), matches!(status, 429 | 503));
    }
}

impl Answer {
    /// Asserts that the answer is an error in the shape of OpenAI with this code.
    #[track_caller]
    pub(crate) fn assert_openai_error(&self, status: u16, code: &str) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.headers["content-type"], "application/json", "{}", self.text);
        let error = &self.json()["error"];
        assert_eq!(error["code"], code, "{}", self.text);
        assert!(
            error["message"].is_string() && error["type"].is_string(),
            "{}",
            self.text
        );
        assert_eq!(self.headers.contains_key("retry-after"), matches!(status, 429 | 503));
    }
}

impl Events {
    /// Returns the next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((frame, rest)) = self.read.split_once("\n\n") {
                let event = parse(frame);
                self.read = rest.to_owned();
                match event {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            let frame = self.body.frame().await?.ok()?;
            let data = frame.into_data().unwrap();
            assert!(!data.contains(&b'\r'), "lines must end with LF");
            self.read.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// Reads until an event of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            let is_last = event.data["type"] == kind;
            events.push(event);
            if is_last {
                return events;
            }
        }
        panic!("the stream ended before {kind}: {events:?}");
    }

    pub(crate) async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

fn parse(frame: &str) -> Option<Event> {
    let field = |name: &str| {
        frame
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    };
    let data: Value = serde_json::from_str(field("data")?).unwrap();
    let id = field("id").map(|id| id.parse().unwrap());
    assert_eq!(field("event").is_some(), id.is_some());
    if let Some(kind) = field("event") {
        assert_eq!(data["type"], kind);
    }
    Some(Event { id, data })
}

pub(crate) fn build(
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&Value>,
) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(path);
    if headers.iter().all(|(name, _)| *name != "host") {
        request = request.header("host", "localhost");
    }
    if headers.iter().all(|(name, _)| *name != "x-request-id") {
        // Answers that must be the same would differ in it.
        request = request.header("x-request-id", "test");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let body = body.map(Value::to_string).unwrap_or_default();
    request.body(Full::new(body.into())).unwrap()
}

/// Returns the types of events.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Returns the text of the assistant in events.
pub(crate) fn text_of<'a, I: IntoIterator<Item = &'a Value>>(events: I) -> String {
    let events = events
        .into_iter()
        .filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT");
    events.map(|event| event["delta"].as_str().unwrap()).collect()
}
