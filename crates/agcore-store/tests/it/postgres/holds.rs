//! Holds whose connection is lost or whose process is killed, and databases that take no writes for a while.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use agcore_chat::SystemClock;
use agcore_memory::{MemoryErrorKind, MemoryItem, MemoryStore};
use agcore_session::{Hold, SessionError, SessionErrorKind, SessionWriter};
use agcore_store::postgres::{PostgresOptions, PostgresStore};
use sqlx::{Connection, PgConnection};

use super::{
    proxy::Proxy,
    server::{Names, admin, need_server, options_of, url, url_at, url_of},
};

/// The schema of the process that is killed, and whether it shares the hold.
const SCHEMA: &str = "AGCORE_TEST_HOLDER_SCHEMA";
const SHARED: &str = "AGCORE_TEST_HOLDER_SHARED";

/// The longest time for what happens within moments. Only a bug exceeds it.
const LIMIT: Duration = Duration::from_secs(60);

async fn open(options: PostgresOptions) -> PostgresStore {
    options.open(Arc::new(SystemClock::new())).await.unwrap()
}

/// Waits until a condition is met, checking it again and again.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let looked = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(LIMIT, looked).await.is_ok(), "{what}");
}

/// Ends the connection of the holds of a program.
async fn end_connection(program: &str) {
    admin(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '{program} (%'"
    ))
    .await;
}

/// Returns the number of locks of a program.
async fn locks(program: &str) -> i64 {
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let sql = "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
               WHERE a.application_name LIKE $1 AND l.locktype = 'advisory' AND l.granted";
    let count = sqlx::query_scalar(sql).bind(format!("{program} (%"));
    count.fetch_one(&mut connection).await.unwrap()
}

fn is_held(taken: &Result<Hold, SessionError>) -> bool {
    taken
        .as_ref()
        .is_err_and(|error| error.kind() == SessionErrorKind::Held)
}

/// Takes a hold in one of its forms.
async fn take(store: &PostgresStore, is_shared: bool) -> Result<Hold, SessionError> {
    if is_shared {
        store.hold_shared("name").await
    } else {
        store.hold("name").await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hold_is_taken_again_when_its_connection_was_lost() {
    need_server!();
    check_taken_again(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_hold_is_taken_again_when_its_connection_was_lost() {
    need_server!();
    check_taken_again(true).await;
}

async fn check_taken_again(is_shared: bool) {
    let names = Names::default();
    let schema = names.name();
    let store = open(options_of(&url(), &schema).with_program(&schema)).await;
    let other = open(options_of(&url(), &schema).with_program("other")).await;
    let hold = take(&store, is_shared).await.unwrap();
    end_connection(&schema).await;
    until("the locks are there again", async || locks(&schema).await == 2).await;
    assert!(!hold.is_lost());
    assert_eq!(other.hold_shared("name").await.is_ok(), is_shared);
    let refused = other.hold("name").await.unwrap_err();
    assert_eq!(refused.kind(), SessionErrorKind::Held, "{refused:?}");
    let holder = refused.holder().unwrap();
    assert_eq!(
        (holder.program.as_str(), holder.process),
        (&*schema, Some(std::process::id()))
    );
    drop(hold);
    until("it is given back", async || other.hold("name").await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hold_that_another_one_has_taken_meanwhile_is_lost() {
    need_server!();
    check_lost(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_hold_that_another_one_has_taken_meanwhile_is_lost() {
    need_server!();
    check_lost(true).await;
}

async fn check_lost(is_shared: bool) {
    let names = Names::default();
    let schema = names.name();
    let proxy = Proxy::start().await;
    let store = open(options_of(&url_at(proxy.address), &schema).with_program(&schema)).await;
    let other = open(options_of(&url(), &schema).with_program("other")).await;
    let holds = [take(&store, is_shared).await, take(&store, is_shared).await];
    assert_eq!(holds[1].is_ok(), is_shared);
    proxy.set_silent(true);
    end_connection(&schema).await;
    let mut taken = other.hold("name").await;
    while is_held(&taken) {
        taken = other.hold("name").await;
    }
    let taken = taken.unwrap();
    proxy.set_silent(false);
    until("it is noticed", async || holds.iter().flatten().all(Hold::is_lost)).await;
    assert!(!taken.is_lost());
    // Giving back what was lost takes nothing away from the other one.
    drop(holds);
    let refused = take(&store, is_shared).await;
    assert!(is_held(&refused), "{refused:?}");
    drop(taken);
    until("it is given back", async || take(&store, is_shared).await.is_ok()).await;
}

#[expect(clippy::disallowed_methods, reason = "the test starts itself as another process")]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

#[tokio::test]
#[ignore = "started by the test below, which kills it"]
async fn holder() {
    let Some(schema) = variable(SCHEMA) else {
        return;
    };
    let store = open(options_of(&url(), &schema).with_program(&schema)).await;
    let _hold = take(&store, variable(SHARED).is_some()).await.unwrap();
    println!("held");
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_releases_its_hold() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = open(options_of(&url(), &schema)).await;
    for is_shared in [false, true] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "postgres::holds::holder", "--ignored", "--nocapture"]);
        command
            .env(SCHEMA, &schema)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if is_shared {
            command.env(SHARED, "");
        }
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let is_taken = lines.any(|line| line.unwrap().ends_with("held"));
        let refused = store.hold("name").await;
        let shared = store.hold_shared("name").await;
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(is_taken, "the process ended by itself");
        assert_eq!(refused.unwrap_err().holder().unwrap().process, Some(process.id()));
        assert_eq!(shared.is_ok(), is_shared);
        drop(shared);
        until("it is released", async || store.hold("name").await.is_ok()).await;
    }
}

/// Between two primary servers, a database is read-only or takes no connections. The store works again without being opened again.
#[tokio::test]
async fn a_database_that_takes_no_writes_for_a_while_is_waited_for() {
    need_server!();
    let names = Names::default();
    let name = names.name();
    admin(&format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING UTF8")).await;
    let url = url_of(&name);
    let store = open(options_of(&url, "agcore").with_acquire_timeout(Duration::from_secs(2))).await;
    store.save(MemoryItem::new("a", "")).await.unwrap();
    for (away, back) in [
        (
            format!("ALTER DATABASE {name} SET default_transaction_read_only = on"),
            format!("ALTER DATABASE {name} RESET default_transaction_read_only"),
        ),
        (
            format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"),
            format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"),
        ),
    ] {
        admin(&away).await;
        admin(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        ))
        .await;
        for _ in 0..5 {
            let error = store.save(MemoryItem::new("b", "")).await.unwrap_err();
            assert_eq!(error.kind(), MemoryErrorKind::Unavailable, "{away}: {error:?}");
        }
        admin(&back).await;
        until("it works again", async || {
            match store.save(MemoryItem::new("c", "")).await {
                Ok(()) => true,
                Err(error) => {
                    assert_eq!(error.kind(), MemoryErrorKind::Unavailable, "{back}: {error:?}");
                    false
                }
            }
        })
        .await;
    }
}
