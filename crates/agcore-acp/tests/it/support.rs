//! [`Client`]: an editor that writes lines by hand; [`ScriptedHost`]: a host whose model plays a script.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore_acp::{
    AcpError, AcpErrorKind, CallView, Choice, Choices, CommandInfo, CommandResult, Editor, EditorApprover, FileChange,
    Host, HostedSession, ListedSession, OpenRequest, Program, SessionPage, plan_tool, serve,
};
use agcore_agent::{AgentSession, AgentSpec, StoredSessions, SubAgent, agent};
use agcore_session::{InMemorySessionStore, SessionReader};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{InMemoryGrants, PermissionRules, Rule, RuleState, SystemClock, ToolPolicy, ToolRegistry, typed};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// The id of a permission option.
pub(crate) const ALLOW: &str = "allow_once";

/// The state that a test shares with its host: the model, the store, and what has happened.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) model: ScriptedProvider,
    pub(crate) store: Arc<InMemorySessionStore>,
    pub(crate) grants: Arc<InMemoryGrants>,
    /// The number of payments.
    pub(crate) paid: Arc<AtomicUsize>,
    /// The number of sessions that were closed.
    pub(crate) closed: Arc<AtomicUsize>,
    /// The number of sessions that were opened again.
    pub(crate) released: Arc<AtomicUsize>,
    pub(crate) editors: Arc<Mutex<Vec<Editor>>>,
    /// The calls that were previewed for a question of a suspended turn.
    pub(crate) previewed: Arc<Mutex<Vec<String>>>,
    /// Notices for the user about each session.
    pub(crate) notices: Vec<String>,
}

impl Stage {
    pub(crate) fn new(script: impl IntoIterator<Item = ScriptStep>) -> Self {
        Self {
            model: ScriptedProvider::new(script),
            store: Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new()))),
            grants: Arc::default(),
            paid: Arc::default(),
            closed: Arc::default(),
            released: Arc::default(),
            editors: Arc::default(),
            previewed: Arc::default(),
            notices: Vec::new(),
        }
    }

    /// Connects an editor, which initializes the connection.
    pub(crate) async fn connect(&self) -> Client {
        let mut client = self.connect_raw();
        let capabilities = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        client.ok("initialize", params).await;
        client
    }

    pub(crate) fn connect_raw(&self) -> Client {
        self.connect_sized(1 << 20)
    }

    /// Connects an editor with as many bytes between the two ends.
    pub(crate) fn connect_sized(&self, bytes: usize) -> Client {
        let (near, far) = duplex(bytes);
        let (input, output) = split(far);
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(ScriptedHost(self.clone()), input, output, stop.clone()));
        let (reader, writer) = split(near);
        Client {
            lines: BufReader::new(reader).lines(),
            writer: Some(writer),
            next: 0,
            seen: Vec::new(),
            answers: VecDeque::new(),
            serving,
            stop,
        }
    }

    /// Waits until the model was asked this many times: a turn that is cancelled earlier takes no step of the script.
    pub(crate) async fn asked(&self, times: usize) {
        while self.model.requests().len() < times {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn paid(&self) -> usize {
        self.paid.load(Ordering::SeqCst)
    }

    fn sessions(&self, editor: Option<Editor>) -> StoredSessions {
        let tools = ToolRegistry::new();
        let paid = Arc::clone(&self.paid);
        let pay = typed("pay", "Pays a bill.", move |bill: Bill| {
            let paid = Arc::clone(&paid);
            async move {
                paid.fetch_add(1, Ordering::SeqCst);
                Ok(format!("paid {} euros", bill.euros))
            }
        });
        tools.register(pay).unwrap();
        tools.register(plan_tool()).unwrap();
        let helper = SubAgent::new(AgentSpec::new("helper", "You help."), "Helps.");
        tools.register(helper).unwrap();
        let rules = PermissionRules::default()
            .with_rule(Rule::tool(RuleState::Allow, "ask_helper"))
            .with_rule(Rule::tool(RuleState::Ask, "pay"))
            .with_rule(Rule::tool(RuleState::Allow, "update_plan"));
        let mut policy = ToolPolicy::new(rules).with_grants(Arc::<InMemoryGrants>::clone(&self.grants));
        if let Some(editor) = editor {
            let asks = EditorApprover::new(editor, |request| {
                CallView::new(&request.tool, None, request.arguments.as_value(), Path::new("/project"))
            });
            policy = policy.with_approver(Arc::new(asks));
        }
        let bundle = agent(self.model.clone())
            .with_tools(tools)
            .with_policy(policy)
            .with_session_store(Arc::clone(&self.store))
            .build();
        bundle.unwrap().stored_sessions().unwrap()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Bill {
    euros: u32,
}

struct ScriptedHost(Stage);

impl ScriptedHost {
    fn hosted(&self, session: AgentSession, editor: Editor) -> Box<dyn HostedSession> {
        self.0.editors.lock().unwrap().push(editor);
        Box::new(ScriptedSession {
            session,
            mode: Mutex::new("default".to_owned()),
            closed: Arc::clone(&self.0.closed),
            released: Arc::clone(&self.0.released),
            previewed: Arc::clone(&self.0.previewed),
            notices: self.0.notices.clone(),
        })
    }
}

fn spec() -> AgentSpec {
    AgentSpec::new("assistant", "")
}

#[async_trait]
impl Host for ScriptedHost {
    fn program(&self) -> Program {
        Program::new("scripted", "1.0").with_sign_in("Set a key.")
    }

    async fn create(&self, request: OpenRequest, editor: Editor) -> Result<Box<dyn HostedSession>, AcpError> {
        // The second one is a link to the first.
        if ![Path::new("/project"), Path::new("/link")].contains(&&*request.folder) {
            return Err(AcpError::new(AcpErrorKind::InvalidInput, "there is no such folder"));
        }
        let sessions = self.0.sessions(Some(editor.clone()));
        let session = sessions.create(sessions.new_id(), spec()).await?;
        Ok(self.hosted(session, editor))
    }

    async fn open(&self, id: &str, _: OpenRequest, editor: Editor) -> Result<Box<dyn HostedSession>, AcpError> {
        let session = self.0.sessions(Some(editor.clone())).open(id, spec()).await?;
        Ok(self.hosted(session, editor))
    }

    async fn list(&self, _: Option<&Path>, _: Option<&str>) -> Result<SessionPage, AcpError> {
        let all = self.0.sessions(None).list(None, 10).await?;
        let entry = |id: &str| ListedSession::new(id, PathBuf::from("/project"), "2026-01-01T00:00:00Z");
        Ok(SessionPage::new(
            all.iter().map(|session| entry(&session.id)).collect(),
            None,
        ))
    }

    async fn delete(&self, id: &str) -> Result<(), AcpError> {
        Ok(self.0.sessions(None).delete(id).await.map(drop)?)
    }

    async fn check_sign_in(&self) -> Result<(), AcpError> {
        Err(AcpError::new(AcpErrorKind::SignInRequired, "there is no key"))
    }
}

struct ScriptedSession {
    session: AgentSession,
    mode: Mutex<String>,
    closed: Arc<AtomicUsize>,
    released: Arc<AtomicUsize>,
    previewed: Arc<Mutex<Vec<String>>>,
    notices: Vec<String>,
}

#[async_trait]
impl HostedSession for ScriptedSession {
    fn session(&self) -> &AgentSession {
        &self.session
    }

    fn folder(&self) -> &Path {
        Path::new("/project")
    }

    fn modes(&self) -> Choices {
        let all = vec![Choice::new("default", "Ask"), Choice::new("plan", "Plan")];
        Choices::new(self.mode.lock().unwrap().as_str(), all)
    }

    fn set_mode(&self, id: &str) -> Result<(), AcpError> {
        if !["default", "plan"].contains(&id) {
            return Err(AcpError::new(AcpErrorKind::InvalidInput, "there is no such mode"));
        }
        id.clone_into(&mut self.mode.lock().unwrap());
        Ok(())
    }

    fn models(&self) -> Choices {
        Choices::new("one", vec![Choice::new("one", "One"), Choice::new("two", "Two")])
    }

    fn set_model(&self, _: &str) -> Result<(), AcpError> {
        Ok(())
    }

    fn commands(&self) -> Vec<CommandInfo> {
        vec![CommandInfo::new("status", "Shows the status.")]
    }

    async fn command(&self, name: &str, argument: &str) -> Result<Option<CommandResult>, AcpError> {
        if name == "wait" {
            std::future::pending::<()>().await;
        }
        Ok((name == "status").then(|| CommandResult::Text(format!("status of {argument}"))))
    }

    fn preview(&self, call_id: &str, tool: &str, arguments: &Value) -> CallView {
        self.previewed.lock().unwrap().push(call_id.to_owned());
        self.describe(tool, arguments)
    }

    fn change_made(&self, call_id: &str) -> Option<FileChange> {
        (call_id == "changes").then(|| FileChange {
            path: PathBuf::from("/project/bill.txt"),
            before: None,
            after: "5".to_owned(),
        })
    }

    fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    async fn close(&self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    async fn release(&self) {
        self.released.fetch_add(1, Ordering::SeqCst);
    }
}

/// An editor that writes lines by hand.
pub(crate) struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: Option<WriteHalf<DuplexStream>>,
    next: u64,
    /// Everything that was received and is not an answer.
    pub(crate) seen: Vec<Value>,
    /// The options that are selected in the next questions; without one, a question is left open.
    pub(crate) answers: VecDeque<&'static str>,
    serving: JoinHandle<Result<(), AcpError>>,
    pub(crate) stop: CancellationToken,
}

impl Client {
    /// Opens a session and returns its id.
    pub(crate) async fn session(&mut self) -> String {
        let opened = self
            .ok("session/new", json!({"cwd": "/project", "mcpServers": []}))
            .await;
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    /// Sends a text as a prompt, and returns why the turn stopped.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> String {
        let answer = self.ok("session/prompt", prompt(session, text)).await;
        answer["stopReason"].as_str().unwrap().to_owned()
    }

    /// Sends a request and returns its result.
    pub(crate) async fn ok(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params).await;
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request and returns the code and the message of its error.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.call(method, params).await;
        let error = &answer["error"];
        assert!(error.is_object(), "{method}: {answer}");
        (
            error["code"].as_i64().unwrap(),
            error["message"].as_str().unwrap().to_owned(),
        )
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Sends a request without waiting for its answer.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(&format!("{message}\n")).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(text.as_bytes()).await.unwrap();
        writer.flush().await.unwrap();
    }

    /// Waits for the answer to a request.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await.expect("the door is closed");
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Waits for a request of the agent.
    pub(crate) async fn asked(&mut self, method: &str) -> Value {
        loop {
            let message = self.receive().await.expect("the door is closed");
            if message["method"] == method && message.get("id").is_some() {
                return message;
            }
        }
    }

    /// Returns the next message, or `None` at the end. Questions are answered as planned.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        let message: Value = serde_json::from_str(&line).expect(&line);
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        if message.get("method").is_some() {
            self.seen.push(message.clone());
        }
        if message["method"] == "session/request_permission"
            && let Some(option) = self.answers.pop_front()
        {
            self.select(&message, option).await;
        }
        Some(message)
    }

    /// Answers a question.
    pub(crate) async fn select(&mut self, question: &Value, option: &str) {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}))
            .await;
    }

    /// Returns the updates of a kind.
    pub(crate) fn updates(&self, kind: &str) -> Vec<Value> {
        let updates = self.seen.iter().map(|message| &message["params"]["update"]);
        updates
            .filter(|update| update["sessionUpdate"] == kind)
            .cloned()
            .collect()
    }

    /// Returns the text of all chunks of a kind.
    pub(crate) fn text(&self, kind: &str) -> String {
        let chunks = self.updates(kind);
        chunks
            .iter()
            .map(|chunk| chunk["content"]["text"].as_str().unwrap_or_default())
            .collect()
    }

    /// Returns the questions about calls.
    pub(crate) fn questions(&self) -> Vec<Value> {
        let questions = self
            .seen
            .iter()
            .filter(|message| message["method"] == "session/request_permission");
        questions.cloned().collect()
    }

    /// Closes both streams at once, like a process that is killed, and waits until the door has ended. Returns its result.
    pub(crate) async fn die(self) -> Result<(), AcpError> {
        let Self {
            lines, writer, serving, ..
        } = self;
        drop((lines, writer));
        serving.await.unwrap()
    }

    /// Waits until the door has ended, without reading or closing anything. Returns its result.
    pub(crate) async fn stays_deaf(self) -> Result<(), AcpError> {
        let Self {
            lines, writer, serving, ..
        } = self;
        let ended = serving.await.unwrap();
        drop((lines, writer));
        ended
    }

    /// Closes the input of the door, and waits until it has ended. Returns its result.
    pub(crate) async fn leave(mut self) -> Result<(), AcpError> {
        if let Some(mut writer) = self.writer.take() {
            writer.shutdown().await.unwrap();
        }
        self.serving.await.unwrap()
    }
}

/// Returns the parameters of a prompt with a text.
pub(crate) fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

/// Returns the status of a session in the store.
pub(crate) async fn status(stage: &Stage, id: &str) -> String {
    let session = stage.store.get_session("local", id).await.unwrap();
    match session {
        Some(session) => format!("{:?}", session.status),
        None => "none".to_owned(),
    }
}
