//! Webhooks in tables of a server.

use std::{
    collections::BTreeSet,
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use agcore_chat::{Actor, SystemClock};
use agcore_store::postgres::PostgresStore;
use agcore_testkit::clock::ManualClock;
use agcore_webhook::{Attempt, DeliveryFilter, WebhookStore};
use futures_util::future::{join, join_all};
use sqlx::{Connection, PgConnection};

use super::server::{Names, Schemas, admin, need_server, options_of, url};
use crate::webhooks;

/// The schema of the process that sends messages, and its number.
const SCHEMA: &str = "AGCORE_TEST_WEBHOOKS_SCHEMA";
const GENERATION: &str = "AGCORE_TEST_WEBHOOKS_GENERATION";

const ROUNDS: usize = 20;

async fn open(schema: &str) -> PostgresStore {
    // The clock is wrong: the time is that of the server.
    let options = options_of(&url(), schema);
    options.open(Arc::new(ManualClock::new())).await.unwrap()
}

/// Executes statements on the tables of a schema.
async fn execute(schema: &str, sql: &str) {
    admin(&format!("SET search_path TO {schema}; {sql}")).await;
}

#[tokio::test]
#[ignore = "started by the test below, which kills it"]
async fn sender() {
    let (Ok(schema), Ok(generation)) = (env::var(SCHEMA), env::var(GENERATION)) else {
        return;
    };
    let options = options_of(&url(), &schema);
    let store = options.open(Arc::new(SystemClock::new())).await.unwrap();
    webhooks::send_forever(&store, &store, &generation, |report| println!("{report}")).await;
}

/// Waits until the server has ended all connections to a schema whose client is dead.
async fn wait_for_end(schema: &str) {
    let mut observer = PgConnection::connect(&url()).await.unwrap();
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = $1)";
    while is_true(&mut observer, sqlx::query_scalar(sql).bind(schema)).await {}
}

async fn is_true(
    connection: &mut PgConnection,
    query: sqlx::query::QueryScalar<'_, sqlx::Postgres, bool, sqlx::postgres::PgArguments>,
) -> bool {
    query.fetch_one(connection).await.unwrap()
}

#[tokio::test]
async fn each_run_that_ends_has_its_message_when_the_process_is_killed() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = open(&schema).await;
    webhooks::create(&store, "w").await;
    store.close().await;
    let mut random = fastrand::Rng::with_seed(u64::from(std::process::id()));
    let mut reports = BTreeSet::new();
    for generation in 0..8 {
        let mut sender = Command::new(env::current_exe().unwrap())
            .args(["--exact", "postgres::webhooks::sender", "--ignored", "--nocapture"])
            .env(SCHEMA, &schema)
            .env(GENERATION, generation.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut seen, count) = (0, random.u32(1..30));
        // After the kill, the pipe still has what was printed before.
        for line in BufReader::new(sender.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if line.starts_with("ended ") || line.starts_with("delivered ") {
                reports.insert(line);
                seen += 1;
                if seen == count {
                    sender.kill().unwrap();
                }
            }
        }
        sender.wait().unwrap();
        assert!(seen >= count, "the process ended by itself");
        wait_for_end(&schema).await;
        let store = open(&schema).await;
        let expire = async || execute(&schema, webhooks::EXPIRE).await;
        webhooks::check(&store, &store, &reports, expire).await;
        store.close().await;
    }
    assert!(reports.iter().any(|report| report.starts_with("delivered ")));
}

#[tokio::test]
async fn waiting_messages_keep_no_others_back() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let store = open(&schema).await;
    let run = async |sql: String| execute(&schema, &sql).await;
    webhooks::waiting_messages_keep_no_others_back(&store, &store, run).await;
}

#[tokio::test]
async fn old_messages_are_deleted() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let store = open(&schema).await;
    let run = async |sql: String| execute(&schema, &sql).await;
    webhooks::old_messages_are_deleted(&store, run).await;
}

#[tokio::test]
async fn unreadable_rows_keep_no_others_back() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let store = open(&schema).await;
    let run = async |sql: String| execute(&schema, &sql).await;
    webhooks::unreadable_rows_keep_no_others_back(&store, run).await;
}

#[tokio::test]
async fn a_run_can_end_while_its_webhook_is_deleted() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let store = open(&schema).await;
    webhooks::create(&store, "deleted").await;
    webhooks::create(&store, "kept").await;
    let mut deleting = PgConnection::connect(&url()).await.unwrap();
    let delete = format!("BEGIN; DELETE FROM {schema}.webhooks WHERE id = 'deleted'");
    sqlx::raw_sql(sqlx::AssertSqlSafe(delete))
        .execute(&mut deleting)
        .await
        .unwrap();
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&mut deleting)
        .await
        .unwrap();
    let delete = async {
        let mut observer = PgConnection::connect(&url()).await.unwrap();
        let blocked = "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)))";
        while is_true(&mut observer, sqlx::query_scalar(blocked).bind(pid)).await {}
        sqlx::raw_sql("COMMIT").execute(&mut deleting).await.unwrap();
    };
    join(webhooks::end_run(&store, "r"), delete).await;
    let kept = store.deliveries("local", "kept", &DeliveryFilter::new()).await;
    assert_eq!(kept.unwrap().len(), 1);
}

#[tokio::test]
async fn nothing_fails_when_everything_happens_at_once() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let store = &options_of(&url(), &schema)
        .with_pool_size(12)
        .open(Arc::new(ManualClock::new()))
        .await
        .unwrap();
    let end = async |task: usize| {
        for number in 0..ROUNDS {
            webhooks::end_run(store, &format!("{task}/{number}")).await;
        }
    };
    let send = async |task: usize| {
        for number in 0..ROUNDS {
            let holder = format!("{task}/{number}");
            let claimed = store
                .claim_deliveries(&holder, Duration::from_secs(600), 7)
                .await
                .unwrap();
            for (place, claimed) in claimed.iter().enumerate() {
                let status = [200, 500, 410][place % 3];
                let attempt = Attempt::answered(status, Duration::ZERO);
                store.record_attempt(claimed, attempt).await.unwrap();
            }
        }
    };
    let change = async |task: usize| {
        for number in 0..ROUNDS {
            let id = (number % 5).to_string();
            match (task + number) % 4 {
                0 => drop(store.erase_webhooks(&Actor::local()).await.unwrap()),
                1 => drop(store.delete_webhook("local", &id).await.unwrap()),
                // There may be no such webhook at the moment, or there may be one already.
                2 => drop(store.test_webhook("local", &id).await),
                _ => drop(webhooks::try_create(store, &id).await),
            }
        }
    };
    let ends = join_all((0..4).map(end));
    let sends = join_all((0..4).map(send));
    let changes = join_all((0..4).map(change));
    join(join(ends, sends), changes).await;
}
