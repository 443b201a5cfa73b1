//! Tools that finish while the database is away: their results are stored when it is back, and no user is asked about them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_server::{Server, ServerBuilder};
use agcore_session::SessionStore;
use agcore_testkit::{
    scripted::{ScriptStep, ScriptedProvider},
    stores::faulty::{FaultPlan, FaultyStore},
};
use agcore_tools::{NoArguments, SuspendingApprover, typed};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::{Notify, watch};

use crate::{
    outage::Proxy,
    postgres,
    support::{InStore, Running, Store, call, input, text_of},
};

/// Printed by tests that another test starts with the address of a database server.
const SKIPPED: &str = "skipped: it is started by `postgres::the_same_tests_pass_with_a_database_server`";

/// A tool that must not be repeated, and that takes as long as the test wants.
#[derive(Default)]
struct Tool {
    calls: AtomicUsize,
    started: Notify,
    finish: Notify,
}

fn builder(tool: &Arc<Tool>, provider: &ScriptedProvider, store: &Store) -> ServerBuilder {
    let tool = Arc::clone(tool);
    let append = typed("log_append", "Appends a line.", move |_: NoArguments| {
        let tool = Arc::clone(&tool);
        async move {
            tool.calls.fetch_add(1, Ordering::SeqCst);
            tool.started.notify_one();
            tool.finish.notified().await;
            Ok("appended")
        }
    });
    let bundle = AgentBuilder::new().with_provider(provider.clone()).with_tool(append);
    let bundle = bundle.with_approver(SuspendingApprover).build().unwrap();
    let builder = Server::builder().with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."));
    builder.in_store(store)
}

/// A store that counts its calls.
fn counted<S: SessionStore + 'static>(inner: S) -> (Store, watch::Receiver<usize>) {
    let (calls, counted) = watch::channel(0);
    let plan = FaultPlan::from_fn(move |_, _| {
        calls.send_modify(|count| *count += 1);
        None
    });
    (Arc::new(FaultyStore::new(inner, plan)), counted)
}

/// Lets the tool finish while the database is away, until its result could not be stored several times.
async fn finish_during(
    store: Store,
    mut calls: watch::Receiver<usize>,
    go_away: impl AsyncFnOnce(),
    come_back: impl AsyncFnOnce(),
) {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "log_append")]),
        ScriptStep::text("It is noted."),
    ]);
    let tool = Arc::new(Tool::default());
    let server = Running::start(builder(&tool, &provider, &store)).await;
    let started = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Note it.")).await;
    assert_eq!(started.status.as_u16(), 202, "{}", started.text);
    tool.started.notified().await;
    go_away().await;
    let before = *calls.borrow();
    tool.finish.notify_one();
    calls.wait_for(|count| *count >= before + 4).await.unwrap();
    come_back().await;
    let events: Vec<_> = server
        .follow("t", "r1", None)
        .await
        .into_iter()
        .map(|event| event.data)
        .collect();
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    let end = events.last().unwrap();
    assert_eq!(end["type"], "RUN_FINISHED", "{end}");
    assert_ne!(end["outcome"]["type"], "interrupt", "{end}");
    assert_eq!(text_of(&events), "It is noted.");
    assert_eq!(tool.calls.load(Ordering::SeqCst), 1);
    let results = events.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT");
    assert_eq!(results.count(), 1);
    provider.assert_done();
    server.stop().await;
}

async fn execute(url: &str, sql: String) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_server_that_refuses_connections_for_a_while() {
    let Some(url) = postgres::url() else {
        return println!("{SKIPPED}");
    };
    let proxy = Proxy::start(&url);
    let (store, calls) = counted(postgres::open(&proxy.url));
    finish_during(store, calls, async || proxy.go_away(), async || proxy.come_back()).await;
}

#[tokio::test]
async fn a_database_that_is_read_only_for_a_while() {
    let Some(url) = postgres::url() else {
        return println!("{SKIPPED}");
    };
    between_primaries(
        &url,
        "SET default_transaction_read_only = on",
        "RESET default_transaction_read_only",
    )
    .await;
}

#[tokio::test]
async fn a_database_that_takes_no_connections_for_a_while() {
    let Some(url) = postgres::url() else {
        return println!("{SKIPPED}");
    };
    between_primaries(&url, "ALLOW_CONNECTIONS false", "ALLOW_CONNECTIONS true").await;
}

/// Changes a database of its own, and ends its connections, as a failover does.
async fn between_primaries(url: &str, away: &str, back: &str) {
    let (_, name) = postgres::open_named(url);
    execute(url, format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING UTF8")).await;
    let (server, _) = url.rsplit_once('/').unwrap();
    let (store, calls) = counted(postgres::open(&format!("{server}/{name}")));
    let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    let go_away = async || {
        execute(url, format!("ALTER DATABASE {name} {away}")).await;
        execute(url, end).await;
    };
    let come_back = async || execute(url, format!("ALTER DATABASE {name} {back}")).await;
    finish_during(store, calls, go_away, come_back).await;
    execute(url, format!("DROP DATABASE {name} WITH (FORCE)")).await;
}
