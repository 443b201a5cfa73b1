//! Two handles of one session, in a process and in two: only one drives it.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test starts itself again as another process, and reports what it skips"
)]

use std::{
    env, fs,
    io::{BufRead, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use agcore_agent::{AgentBuilder, AgentError, AgentErrorKind, AgentSession, StoredSessions};
use agcore_chat::Answer;
use agcore_llm::SystemClock;
use agcore_session::{InMemorySessionStore, SessionStore, SessionWriter, stream_of};
use agcore_store::{postgres::PostgresOptions, sqlite::SqliteOptions};
use agcore_testkit::{
    crash::{Database, Place},
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, ToolRegistry, typed};
use tokio::sync::Notify;

use crate::{
    crash::{block_on, need_server},
    stored::{ada, builder, call},
};

/// A tool that books, and then takes as long as a test wants.
struct Refund {
    ledger: PathBuf,
    started: Notify,
    go_on: Notify,
}

impl Refund {
    fn new(directory: &Path) -> Arc<Self> {
        Arc::new(Self {
            ledger: directory.join("ledger"),
            started: Notify::new(),
            go_on: Notify::new(),
        })
    }

    fn booked(&self) -> usize {
        fs::read_to_string(&self.ledger).map_or(0, |text| text.lines().count())
    }

    fn tools(self: &Arc<Self>) -> ToolRegistry {
        let refund = Arc::clone(self);
        let tool = typed("refund", "Books a refund.", move |_: NoArguments| {
            let refund = Arc::clone(&refund);
            async move {
                let mut file = fs::File::options()
                    .create(true)
                    .append(true)
                    .open(&refund.ledger)
                    .unwrap();
                writeln!(file, "refund").unwrap();
                refund.started.notify_one();
                refund.go_on.notified().await;
                Ok("booked")
            }
        });
        let tools = ToolRegistry::new();
        tools.register(tool).unwrap();
        tools
    }

    fn sessions(self: &Arc<Self>, provider: &ScriptedProvider, store: Arc<dyn SessionStore>) -> StoredSessions {
        let bundle = AgentBuilder::new()
            .with_provider(provider.clone())
            .with_tools(self.tools());
        bundle
            .with_session_store(store)
            .build()
            .unwrap()
            .stored_sessions()
            .unwrap()
    }
}

fn model() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::calls([call("c", "refund")]), ScriptStep::text("Booked.")])
}

fn assert_held(result: Result<impl std::fmt::Debug, AgentError>) -> AgentError {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::Held, "{error}");
    assert!(error.is_retryable() && error.holder().is_some());
    assert!(error.to_string().contains(" since "), "{error}");
    error
}

/// Everything with which a second handle could take over what the first one does.
async fn assert_refused(session: &AgentSession) {
    assert!(!session.is_interrupted().await, "somebody drives it");
    assert_held(session.resume([]).await);
    assert_held(session.turn("Something else").await);
    assert_held(session.save().await);
    assert_held(session.compact().await);
    assert!(!session.is_interrupted().await);
}

#[tokio::test]
async fn a_second_handle_takes_nothing_over() {
    let directory = tempfile::tempdir().unwrap();
    let refund = Refund::new(directory.path());
    let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    let (one, other) = (model(), model());
    let first = refund.sessions(&one, Arc::clone(&store) as _);
    let first = first.create("s", ada()).await.unwrap();
    let turn = tokio::spawn({
        let first = first.clone();
        async move { first.turn("Refund me.").await }
    });
    refund.started.notified().await;
    let second = refund.sessions(&other, store).open("s", ada()).await.unwrap();
    assert_refused(&second).await;
    refund.go_on.notify_one();
    assert_eq!(
        turn.await.unwrap().unwrap().text(),
        "Booked.",
        "the first continues undisturbed"
    );
    assert_eq!((refund.booked(), other.requests().len()), (1, 0));
    // The second handle is out of date: it has seen the open turn.
    assert!(!second.is_interrupted().await);
    let error = second.resume([]).await.unwrap_err();
    assert!(error.to_string().contains("continued elsewhere"), "{error}");
    assert_eq!(refund.booked(), 1);
}

#[tokio::test]
async fn a_hold_covers_the_time_between_two_steps() {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    let model = ScriptedProvider::new([ScriptStep::text("Good day.")]);
    let sessions = builder(&model)
        .with_session_store(store)
        .build()
        .unwrap()
        .stored_sessions()
        .unwrap();
    let first = sessions.create("s", ada()).await.unwrap();
    let second = sessions.open("s", ada()).await.unwrap();
    let hold = first.hold().await.unwrap();
    first.turn("Hello.").await.unwrap();
    assert_refused(&second).await;
    first.add_message(agcore_chat::Message::user("Noted.")).await.unwrap();
    assert_held(second.hold().await);
    drop(hold);
    let third = sessions.open("s", ada()).await.unwrap();
    assert_eq!(third.messages().await.len(), 3);
    third
        .add_message(agcore_chat::Message::assistant("P.S."))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_turn_that_was_dropped_or_waits_for_a_person_is_free() {
    let directory = tempfile::tempdir().unwrap();
    let refund = Refund::new(directory.path());
    let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    let first = refund.sessions(&model(), Arc::clone(&store) as _);
    let first = first.create("dropped", ada()).await.unwrap();
    let mut turn = Box::pin(first.turn("Refund me.").run());
    tokio::select! {
        _ = &mut turn => panic!("the tool waits"),
        () = refund.started.notified() => {}
    }
    drop(turn);
    let provider = ScriptedProvider::new([ScriptStep::calls([call("p", "pay")]), ScriptStep::text("Paid.")]);
    let second = refund
        .sessions(&provider, Arc::clone(&store) as _)
        .open("dropped", ada())
        .await;
    assert!(second.unwrap().is_interrupted().await);

    let sessions = builder(&provider)
        .with_session_store(store)
        .build()
        .unwrap()
        .stored_sessions()
        .unwrap();
    let first = sessions.create("suspended", ada()).await.unwrap();
    let question = first.turn("Pay.").await.unwrap().questions()[0].id.clone();
    let second = sessions.open("suspended", ada()).await.unwrap();
    assert_eq!(
        second.resume([(question, Answer::approve())]).await.unwrap().text(),
        "Paid."
    );
}

/// The error of a hold that was lost is that of a session that was continued elsewhere.
#[tokio::test]
async fn the_name_of_a_hold_is_that_of_the_stream() {
    let directory = tempfile::tempdir().unwrap();
    let refund = Refund::new(directory.path());
    let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    let session = refund
        .sessions(&model(), Arc::clone(&store) as _)
        .create("s/1", ada())
        .await
        .unwrap();
    let hold = store.hold(&stream_of("local", "s/1")).await.unwrap();
    assert_held(session.turn("Refund me.").await);
    assert_eq!(refund.booked(), 0);
    drop(hold);
}

const PLACE: &str = "AGCORE_TEST_HOLD";

async fn open_store(database: &str) -> Arc<dyn SessionStore> {
    let clock = Arc::new(SystemClock::new());
    match database.split_once(' ') {
        Some((url, schema)) => {
            let options = PostgresOptions::new(url).unwrap().with_schema(schema).with_pool_size(2);
            Arc::new(options.with_program("the test").open(clock).await.unwrap())
        }
        None => Arc::new(
            SqliteOptions::new(database)
                .with_program("the test")
                .open(clock)
                .await
                .unwrap(),
        ),
    }
}

#[test]
#[ignore = "is the process that other tests start"]
fn other_process() {
    let Ok(place) = env::var(PLACE) else { return };
    let (folder, database) = place.split_once('|').unwrap();
    block_on(async {
        let refund = Refund::new(Path::new(folder));
        let sessions = refund.sessions(&model(), open_store(database).await);
        let session = sessions.create("s", ada()).await.unwrap();
        let turn = tokio::spawn(async move { session.turn("Refund me.").await });
        refund.started.notified().await;
        println!("\nbooked");
        // Until the process is killed.
        drop(turn.await);
    });
}

fn start(folder: &Path, database: &str) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "holds::other_process", "--ignored", "--nocapture"]);
    command.env(PLACE, format!("{}|{database}", folder.display()));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "booked"));
    child
}

fn two_processes(place: &Place) {
    let database = match place.database() {
        Database::File(path) => path.display().to_string(),
        Database::Postgres { url, schema } => format!("{url} {schema}"),
        other => panic!("{other:?}"),
    };
    let mut child = start(place.folder(), &database);
    block_on(async {
        let refund = Refund::new(place.folder());
        let provider = ScriptedProvider::new([ScriptStep::text("It is unknown.")]);
        let sessions = refund.sessions(&provider, open_store(&database).await);
        let session = sessions.open("s", ada()).await.unwrap();
        assert_refused(&session).await;
        let error = assert_held(session.resume([]).await);
        let holder = error.holder().unwrap();
        assert_eq!(
            (holder.program.as_str(), holder.process),
            ("the test", Some(child.id()))
        );
        assert_eq!(refund.booked(), 1);

        child.kill().unwrap();
        child.wait().unwrap();
        // At once, on the same handle and on a new one.
        assert!(session.is_interrupted().await);
        let session = sessions.open("s", ada()).await.unwrap();
        assert_eq!(session.uncertain_calls().await.len(), 1);
        session.turn("What now?").await.unwrap();
        assert_eq!(refund.booked(), 1);
    });
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_a_database_is_the_same_database() {
    let directory = tempfile::tempdir().unwrap();
    let (file, link) = (directory.path().join("a.db"), directory.path().join("b.db"));
    let model = ScriptedProvider::new([ScriptStep::text("Good day.")]);
    let open = async |path: &Path| {
        let store = SqliteOptions::new(path)
            .open(Arc::new(SystemClock::new()))
            .await
            .unwrap();
        let bundle = builder(&model).with_session_store(store).build().unwrap();
        bundle.stored_sessions().unwrap()
    };
    let first = open(&file).await.create("s", ada()).await.unwrap();
    first.turn("Hello.").await.unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let second = open(&link).await.open("s", ada()).await.unwrap();
    let hold = first.hold().await.unwrap();
    assert_refused(&second).await;
    drop(hold);
    second.save().await.unwrap();
}

#[test]
fn two_processes_on_sqlite() {
    two_processes(&Place::new());
}

#[test]
fn two_processes_on_postgres() {
    let Some(schema) = need_server() else { return };
    two_processes(&Place::in_schema(&schema));
}
