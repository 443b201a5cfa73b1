//! Databases that go away, or run out of space, in the middle of runs.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_chat::{ChatResponse, SystemClock};
use agcore_llm::provider_fn;
use agcore_memory::{MemoryItem, MemoryStore};
use agcore_server::{Server, ServerBuilder};
use agcore_session::SessionStore;
use agcore_store::sqlite::SqliteOptions;
use agcore_testkit::stores::faulty::{FaultPlan, FaultyStore, StoreFault};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::{
    io::{AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
};

use crate::{
    postgres,
    support::{self, InStore, Running, Store, input, text_of},
};

/// A model that waits in its first call.
#[derive(Clone, Default)]
struct Model(Arc<Calls>);

#[derive(Default)]
struct Calls {
    count: AtomicUsize,
    asked: Notify,
    answer: Notify,
}

impl Model {
    fn builder(&self, store: &Store) -> ServerBuilder {
        let calls = Arc::clone(&self.0);
        let provider = provider_fn(move |_| {
            let calls = Arc::clone(&calls);
            async move {
                let mut text = "Here I am.".to_owned();
                if calls.count.fetch_add(1, Ordering::SeqCst) == 0 {
                    calls.asked.notify_one();
                    calls.answer.notified().await;
                    // More than fits into what is left of pages of a full database.
                    text += &"x".repeat(20_000);
                }
                Ok(ChatResponse::from_text(text))
            }
        });
        let bundle = AgentBuilder::new().with_provider(provider).build().unwrap();
        let builder = Server::builder().with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."));
        builder.in_store(store)
    }

    fn calls(&self) -> usize {
        self.0.count.load(Ordering::SeqCst)
    }
}

/// A server whose run waits for its model.
async fn start(model: &Model, store: &Store) -> Running {
    let server = Running::start(model.builder(store)).await;
    let started = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    assert_eq!(started.status.as_u16(), 202, "{}", started.text);
    model.0.asked.notified().await;
    server
}

/// Follows the run, and checks the order of its events.
async fn follow(server: &Running) -> Vec<Value> {
    let events = server.follow("t", "r1", None).await;
    let events: Vec<Value> = events.into_iter().map(|event| event.data).collect();
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    events
}

/// A store that counts its commits.
fn counted<S: SessionStore + 'static>(inner: S) -> (Store, watch::Receiver<usize>) {
    let (commits, counted) = watch::channel(0);
    let plan = FaultPlan::from_fn(move |_, method| {
        commits.send_modify(|count| *count += usize::from(method == "commit"));
        None
    });
    (Arc::new(FaultyStore::new(inner, plan)), counted)
}

/// A run whose reply cannot be stored fails after its only call, as soon as that can be stored.
async fn run_out_of_space(
    store: Store,
    mut commits: watch::Receiver<usize>,
    failures: usize,
    fill: impl AsyncFnOnce(),
    free: impl AsyncFnOnce(),
) {
    let model = Model::default();
    let server = start(&model, &store).await;
    fill().await;
    let before = *commits.borrow();
    model.0.answer.notify_one();
    // The reply, and then the end of the run.
    commits.wait_for(|count| *count > before + failures).await.unwrap();
    let refused = server
        .post("/api/v1/agent/runs/u", &input("u", "r1", &"x".repeat(20_000)))
        .await;
    refused.assert_problem(503, "store_unavailable");
    assert_eq!(server.get("/health").await.status.as_u16(), 200);
    assert_eq!(model.calls(), 1, "the model was asked again");

    free().await;
    let events = follow(&server).await;
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["code"]),
        (&"RUN_ERROR".into(), &"storage".into()),
        "{end}"
    );
    assert_eq!(
        end["message"],
        "the database of the server has failed; try again later (run r1)"
    );
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["runs"][0]["status"], &session["status"], &session["errorId"]),
        (&"failed".into(), &"failed".into(), &"storage".into())
    );
    // The conversation continues.
    let events = server.run(&input("t", "r2", "Are you there?")).await;
    assert_eq!((text_of(&events).as_str(), model.calls()), ("Here I am.", 2));
    server.stop().await;
}

#[tokio::test]
async fn a_disk_that_is_full_in_the_middle_of_a_run_costs_one_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let clock = || Arc::new(SystemClock::new());
    SqliteOptions::new(&path).open(clock()).await.unwrap().close().await;
    let pages = u32::try_from(path.metadata().unwrap().len() / 4096).unwrap() + 60;
    let options = SqliteOptions::new(&path).with_max_pages(pages);
    let database = options.open(clock()).await.unwrap();
    let saved = AtomicUsize::new(0);
    let fill = async || {
        // Down to the last bytes, so that not even a small row fits.
        for size in [2_000, 50] {
            let item = || MemoryItem::new(saved.load(Ordering::SeqCst).to_string(), "x".repeat(size));
            while database.save(item()).await.is_ok() {
                saved.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    let free = async || {
        for item in 0..saved.load(Ordering::SeqCst) {
            // A write of the server that finds no space can fail the transaction that both share.
            while MemoryStore::delete(&database, "local", &item.to_string())
                .await
                .is_err()
            {}
        }
    };
    // The end is so small that it may fit.
    let (store, commits) = counted(database.clone());
    run_out_of_space(store, commits, 1, fill, free).await;
}

#[tokio::test]
async fn a_database_server_without_space_costs_one_call() {
    let Some(url) = postgres::url() else {
        return println!("skipped: it is started by `postgres::the_same_tests_pass_with_a_database_server`");
    };
    let (store, schema) = postgres::open_named(&url);
    // One statement after the other: in one transaction, they would lock several tables, and so do those of the server.
    let execute = async |statements: Vec<String>| {
        let mut connection = PgConnection::connect(&url).await.unwrap();
        for statement in statements {
            let executed = sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await;
            executed.unwrap();
        }
    };
    // What the server answers when its disk is full.
    let function = format!(
        "CREATE FUNCTION {schema}.fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$"
    );
    let tables = ["sessions", "messages", "events", "runs"].map(|table| format!("{schema}.{table}"));
    let create = |table: &String| {
        format!(
            "CREATE TRIGGER a_fill BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {schema}.fill()"
        )
    };
    let fill = async || execute(std::iter::once(function).chain(tables.iter().map(create)).collect()).await;
    let drop_triggers = || tables.iter().map(|table| format!("DROP TRIGGER a_fill ON {table}"));
    let free = async || {
        let drop_function = format!("DROP FUNCTION {schema}.fill()");
        execute(drop_triggers().chain([drop_function]).collect()).await;
    };
    let (store, commits) = counted(store);
    run_out_of_space(store, commits, 3, fill, free).await;
}

/// A proxy in front of a database server, which can go away.
pub(crate) struct Proxy {
    pub(crate) url: String,
    state: Arc<ProxyState>,
}

struct ProxyState {
    is_down: AtomicBool,
    cut: Notify,
    refused: watch::Sender<usize>,
}

impl Proxy {
    pub(crate) fn start(url: &str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let (before, rest) = url.split_once('@').unwrap();
        let (target, path) = rest.split_once('/').unwrap();
        let target = match target.contains(':') {
            true => target.to_owned(),
            false => format!("{target}:5432"),
        };
        let state = Arc::new(ProxyState {
            is_down: AtomicBool::new(false),
            cut: Notify::new(),
            refused: watch::Sender::new(0),
        });
        let url = format!("{before}@{address}/{path}");
        let serving = Arc::clone(&state);
        postgres::spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((client, _)) = listener.accept().await {
                if serving.is_down.load(Ordering::SeqCst) {
                    serving.refused.send_modify(|count| *count += 1);
                    continue;
                }
                tokio::spawn(pass(client, target.clone(), Arc::clone(&serving)));
            }
        });
        Self { url, state }
    }

    pub(crate) fn go_away(&self) {
        self.state.is_down.store(true, Ordering::SeqCst);
        self.state.cut.notify_waiters();
    }

    pub(crate) fn come_back(&self) {
        self.state.is_down.store(false, Ordering::SeqCst);
    }
}

async fn pass(mut client: TcpStream, target: String, state: Arc<ProxyState>) {
    let mut server = TcpStream::connect(target).await.unwrap();
    tokio::select! {
        () = state.cut.notified() => {}
        _ = copy_bidirectional(&mut client, &mut server) => {}
    }
}

#[tokio::test]
async fn a_database_server_that_goes_away_in_the_middle_of_a_run_is_waited_for() {
    let Some(url) = postgres::url() else {
        return println!("skipped: it is started by `postgres::the_same_tests_pass_with_a_database_server`");
    };
    let proxy = Proxy::start(&url);
    let store: Store = postgres::open(&proxy.url);
    let model = Model::default();
    let server = start(&model, &store).await;
    proxy.go_away();
    assert_eq!(server.get("/ready").await.status.as_u16(), 503);
    let refused = server.post("/api/v1/agent/runs/u", &input("u", "r1", "Hello")).await;
    refused.assert_problem(503, "store_unavailable");

    let mut attempts = proxy.state.refused.subscribe();
    let before = *attempts.borrow();
    model.0.answer.notify_one();
    // The reply, and another attempt.
    attempts.wait_for(|count| *count >= before + 2).await.unwrap();
    assert_eq!(model.calls(), 1, "the model was asked while nothing could be stored");
    proxy.come_back();
    let events = follow(&server).await;
    assert!(text_of(&events).starts_with("Here I am."));
    assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED");
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    assert_eq!(history["messages"].as_array().unwrap().len(), 2, "{history}");
    assert_eq!(server.get("/ready").await.status.as_u16(), 200);
    server.stop().await;
}

#[tokio::test]
async fn a_run_whose_client_leaves_while_it_is_stored_is_executed() {
    // The first commit stores the run.
    let commits = AtomicUsize::new(0);
    let plan = FaultPlan::from_fn(move |_, method| {
        let is_first = method == "commit" && commits.fetch_add(1, Ordering::SeqCst) == 0;
        is_first.then_some(StoreFault::Hold)
    });
    let faulty = Arc::new(FaultyStore::new(support::store(), plan));
    let store: Store = Arc::<FaultyStore<Store>>::clone(&faulty);
    let model = Model::default();
    let server = Running::start(model.builder(&store)).await;
    let body = input("t", "r1", "Hello").to_string();
    let head = format!(
        "POST /api/v1/agent/runs/t HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all((head + &body).as_bytes()).await.unwrap();
    faulty.wait_for_held(1).await;
    drop(client);
    while !server
        .get("/metrics")
        .await
        .text
        .contains("agcore_connections_open 1\n")
    {
        tokio::task::yield_now().await;
    }
    faulty.release_all();
    model.0.asked.notified().await;
    model.0.answer.notify_one();
    while server.get("/api/v1/agent/sessions/t").await.json()["runs"][0]["status"] != "completed" {
        tokio::task::yield_now().await;
    }
    server.stop().await;
}
