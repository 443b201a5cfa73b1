//! Processes that are killed while an agent of a stage calls tools, on SQLite and PostgreSQL: no call whose result is stored runs
//! again, and the final state is that of a run that was never killed.
#![allow(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::print_stdout,
    reason = "the tests start processes with a job in a variable, and report what they did"
)]

use std::{
    collections::BTreeMap,
    env, fs,
    future::pending,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{self, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use agcore_agent::{AgentBuilder, RuntimeBundle};
use agcore_chat::{Actor, ChatResponse, Message, SystemClock, ToolAnnotations, ToolCall};
use agcore_flow::{Checkpoints, FlowFile, StagedFlow, StagedState};
use agcore_llm::provider_fn;
use agcore_memory::{
    CheckpointStore, MemoryError,
    session::{SessionFilter, SessionStore},
};
use agcore_store::{postgres::PostgresOptions, sqlite::SqliteStore};
use agcore_tools::{
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;

const JOB: &str = "AGCORE_TEST_STAGE_JOB";
const CALLS: usize = 4;

const FILE: &str = "
version: 1
kind: staged
agents:
  clerk: {role: You work., goal: Work., backstory: ''}
  worker: {role: You work., goal: Work., backstory: '', tools: [work]}
tasks:
  intent_recognition: {agent: clerk, description: 'Intent of {{request}}', expected_output: An intent.}
  task_execution: {agent: worker, description: '{{intent.execution_brief}}', expected_output: Facts.}
  result_reporting: {agent: clerk, description: 'Report {{execution.report_brief}}', expected_output: A text.}
";

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Work {
    number: usize,
}

/// Where a run is: a folder with its log, and a schema of a server if it is not a file there.
#[derive(Clone)]
struct Place {
    folder: String,
    schema: String,
}

trait Stores: SessionStore + CheckpointStore + 'static {}

impl<T: SessionStore + CheckpointStore + 'static> Stores for T {}

fn url() -> String {
    env::var("AGCORE_TEST_POSTGRES_URL").unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned())
}

fn clock() -> Arc<SystemClock> {
    Arc::new(SystemClock::new())
}

impl Place {
    fn id(&self) -> String {
        Path::new(&self.folder)
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    }

    async fn postgres(&self) -> Result<agcore_store::postgres::PostgresStore, MemoryError> {
        let options = PostgresOptions::new(&url())?.with_schema(self.schema.as_str());
        options.with_pool_size(2).open(clock()).await
    }

    async fn run(&self, stops_at: Option<usize>) {
        let path = Path::new(&self.folder).join("store.db");
        match self.schema.as_str() {
            "" => {
                let store = SqliteStore::open(path, clock()).await.unwrap();
                work(self, Arc::new(store), stops_at).await;
            }
            _ => work(self, Arc::new(self.postgres().await.unwrap()), stops_at).await,
        }
    }

    /// Returns everything that the sessions of the run contain, as text.
    async fn stored(&self) -> String {
        let path = Path::new(&self.folder).join("store.db");
        match self.schema.as_str() {
            "" => contents(&SqliteStore::open(path, clock()).await.unwrap(), &self.id()).await,
            _ => contents(&self.postgres().await.unwrap(), &self.id()).await,
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(Path::new(&self.folder).join("log")).unwrap_or_default()
    }
}

async fn contents(store: &dyn SessionStore, run: &str) -> String {
    let filter = SessionFilter::owned_by(Actor::local()).with_limit(1000);
    let mut text = String::new();
    for session in store.sessions(&filter).await.unwrap() {
        if session.id.starts_with(run) {
            text += &format!("{:?}", store.read(&session.stream(), 1).await.unwrap());
        }
    }
    text
}

/// Boundaries at which a process stops and waits to be killed.
#[derive(Clone)]
struct Boundaries {
    passed: Arc<AtomicUsize>,
    stops_at: Option<usize>,
}

impl Boundaries {
    async fn pass(&self) {
        if self.stops_at == Some(self.passed.fetch_add(1, Ordering::SeqCst)) {
            report("stopped");
            pending::<()>().await;
        }
    }
}

fn report(what: &str) {
    let line = format!("report: {what}\n");
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}

fn append(folder: &str, line: &str) {
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .create(true)
        .append(true)
        .open(Path::new(folder).join("log"))
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Replies to a request by what is in it, so that every process gets the same replies.
fn reply(messages: &[Arc<Message>]) -> ChatResponse {
    let results = messages
        .iter()
        .filter(|message| matches!(&***message, Message::Tool(_)))
        .count();
    let request = messages.iter().find(|message| matches!(&***message, Message::User(_)));
    let request = request.map(|message| message.text().into_owned()).unwrap_or_default();
    if request.starts_with("Intent") {
        return ChatResponse::from_text(
            r#"{"route": "NEEDS_EXECUTION", "intent_summary": "w", "assistant_text": null, "execution_brief": "Work.", "safety_flags": []}"#,
        );
    }
    if request.starts_with("Report") {
        return ChatResponse::from_text(r#"{"assistant_text": "Done.", "response_metadata": {}}"#);
    }
    if results < CALLS {
        let arguments = format!("{{\"number\": {results}}}");
        let call = ToolCall::function(format!("call_{results}"), "work", arguments);
        return ChatResponse::from_calls([call]);
    }
    let all: Vec<String> = messages
        .iter()
        .filter(|message| matches!(&***message, Message::Tool(_)))
        .map(|message| message.text().into_owned())
        .collect();
    let brief = serde_json::json!({"status": "SUCCESS", "execution_summary": "", "execution_data": {"all": all}, "report_brief": "x"});
    ChatResponse::from_text(brief.to_string())
}

fn bundle<S: Stores>(place: &Place, store: &Arc<S>, boundaries: &Boundaries) -> RuntimeBundle {
    let at = boundaries.clone();
    let model = provider_fn(move |call| {
        let at = at.clone();
        async move {
            at.pass().await;
            Ok(reply(&call.request.messages))
        }
    });
    let (folder, at) = (place.folder.clone(), boundaries.clone());
    let tool = typed("work", "Works.", move |work: Work| {
        let (folder, at) = (folder.clone(), at.clone());
        async move {
            at.pass().await;
            append(&folder, &format!("call {}", work.number));
            at.pass().await;
            Ok(format!("result of {}", work.number))
        }
    });
    let tool = tool.with_annotations(ToolAnnotations::new().with_idempotent(true));
    let builder = AgentBuilder::new().with_provider(model).with_tool(tool);
    builder
        .with_session_store(Arc::clone(store) as Arc<dyn SessionStore>)
        .build()
        .unwrap()
}

async fn work<S: Stores>(place: &Place, store: Arc<S>, stops_at: Option<usize>) {
    let boundaries = Boundaries {
        passed: Arc::default(),
        stops_at,
    };
    let run = place.id();
    let checkpoints = Checkpoints::create(Arc::clone(&store), &Actor::local(), &run, "run")
        .await
        .unwrap();
    let file = FlowFile::parse("work.flow.yaml", FILE, |_| Err(String::new())).unwrap();
    let bundle = bundle(place, &store, &boundaries);
    let flow = StagedFlow::new(file, bundle).build(SystemClock::new()).unwrap();
    let outcome = flow.resume_or_run(checkpoints, StagedState::new("Work")).await.unwrap();
    let state = outcome.into_state().unwrap();
    fs::write(
        Path::new(&place.folder).join("state"),
        serde_json::to_string(&state).unwrap(),
    )
    .unwrap();
}

#[test]
#[ignore = "does the job of a process that other tests start"]
fn job() {
    let Ok(job) = env::var(JOB) else { return };
    let mut lines = job.lines();
    let stops_at = lines.next().and_then(|boundary| boundary.parse().ok());
    let place = Place {
        folder: lines.next().unwrap().to_owned(),
        schema: lines.next().unwrap_or_default().to_owned(),
    };
    // Ends when the test that started it has ended.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        process::exit(1);
    });
    block_on(place.run(stops_at));
    report("done");
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap().block_on(future)
}

fn start(place: &Place, stops_at: Option<usize>) -> process::Child {
    let boundary = stops_at.map_or_else(String::new, |boundary| boundary.to_string());
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "stage_crash::job", "--ignored", "--nocapture"])
        .env(JOB, format!("{boundary}\n{}\n{}", place.folder, place.schema))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until a process reports something.
fn next(child: &mut process::Child) -> Option<String> {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let mut reports = lines.map_while(Result::ok).filter_map(|line| {
        let (_, report) = line.split_once("report: ")?;
        Some(report.to_owned())
    });
    reports.next()
}

/// Runs a job whose first processes are killed, at these boundaries or after these times, and checks what all of them did.
fn check(place: &Place, kills: &[Result<usize, Duration>]) {
    let mut stored: BTreeMap<usize, usize> = BTreeMap::new();
    for kill in kills {
        let mut child = start(place, kill.ok());
        match kill {
            Ok(_) => drop(next(&mut child)),
            // The process is killed wherever it is by then.
            Err(time) => std::thread::park_timeout(*time),
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let (contents, log) = (block_on(place.stored()), place.log());
        for number in 0..CALLS {
            if contents.contains(&format!("result of {number}")) {
                let calls = log.lines().filter(|line| *line == format!("call {number}")).count();
                stored.entry(number).or_insert(calls);
            }
        }
    }
    let mut last = start(place, None);
    assert_eq!(next(&mut last).as_deref(), Some("done"), "after {kills:?}");
    last.wait().unwrap();
    let log = place.log();
    for (number, calls) in stored {
        let all = log.lines().filter(|line| *line == format!("call {number}")).count();
        assert_eq!(
            all, calls,
            "the stored call {number} was repeated after {kills:?}\n{log}"
        );
    }
    let state: StagedState =
        serde_json::from_str(&fs::read_to_string(Path::new(&place.folder).join("state")).unwrap()).unwrap();
    let all: Vec<String> = (0..CALLS).map(|number| format!("result of {number}")).collect();
    assert_eq!(
        state.execution.as_ref().unwrap().execution_data["all"],
        serde_json::json!(all)
    );
    assert_eq!(state.answer(), Some("Done."));
}

/// Kills processes at every boundary, and at random boundaries and moments.
fn kill(schema: &str, random_kills: usize) {
    let place = |folder: &tempfile::TempDir| Place {
        folder: folder.path().display().to_string(),
        schema: schema.to_owned(),
    };
    // Requests of three stages, one more for each call, and two boundaries in each call.
    for boundary in 0..3 + 3 * CALLS {
        let folder = tempfile::tempdir().unwrap();
        check(&place(&folder), &[Ok(boundary)]);
    }
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut killed = 0;
    while killed < random_kills {
        let folder = tempfile::tempdir().unwrap();
        let kills: Vec<Result<usize, Duration>> = (0..4)
            .map(|_| match random.bool() {
                true => Ok(random.usize(..6)),
                false => Err(Duration::from_micros(random.u64(..40_000))),
            })
            .collect();
        check(&place(&folder), &kills);
        killed += kills.len();
    }
}

fn random_kills() -> usize {
    if env::var_os("AGCORE_SOAK").is_some() { 300 } else { 8 }
}

#[test]
fn sqlite() {
    kill("", random_kills());
}

#[test]
fn postgres() {
    let seconds = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    // Tests of the store remove what killed tests with this prefix have left.
    let schema = format!("agcore_test_{seconds}_{}_s", process::id());
    let place = Place {
        folder: String::new(),
        schema: schema.clone(),
    };
    if let Err(error) = block_on(async { place.postgres().await.map(drop) }) {
        println!("skipped: postgres: {error}");
        return;
    }
    kill(&schema, random_kills());
    let drop = format!("drop schema if exists {schema} cascade");
    let _ = Command::new("psql").args([&url(), "-qc", &drop]).output();
}
