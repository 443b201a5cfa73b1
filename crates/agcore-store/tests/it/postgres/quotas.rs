//! Quotas in tables of a server.

use std::sync::Arc;

use agcore_session::{
    Actor,
    quota::{QuotaDefaults, QuotaStore},
};
use agcore_store::postgres::PostgresStore;
use agcore_testkit::clock::ManualClock;
use futures_util::future::join_all;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::server::{Names, Schemas, admin, need_server, options_of, url};
use crate::quotas;

async fn open(schema: &str, connections: u32) -> PostgresStore {
    // The clock is wrong: the time is that of the server.
    let options = options_of(&url(), schema).with_pool_size(connections);
    options.open(Arc::new(ManualClock::new())).await.unwrap()
}

/// Returns the number of rows of a table.
async fn count(schema: &str, table: &str) -> u64 {
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {schema}.{table}"));
    let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
    count.unsigned_abs()
}

/// Locks the quotas of a tenant until the connection is closed.
async fn lock(schema: &str, tenant: &str) -> PgConnection {
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let sql = "SELECT pg_advisory_lock(hashtextextended('agcore quotas ' || $1 || ' ' || $2, 0))";
    let locking = sqlx::query(sql).bind(schema).bind(tenant);
    locking.execute(&mut connection).await.unwrap();
    connection
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_of_four_connections_never_exceed_a_quota() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let stores = join_all((0..4).map(|_| open(&schema, 1))).await;
    quotas::limit(&stores[0]).await;
    let using = stores.iter().zip(["a", "b", "c", "d"]);
    let spent = join_all(using.map(|(store, process)| quotas::use_up(store, process))).await;
    quotas::check_used_up(&stores[0], spent.into_iter().sum()).await;
    assert_eq!(count(&schema, "quota_allowances").await, 0);
    // The tenant and the users, each with all windows.
    assert_eq!(count(&schema, "quota_usage").await, 4 * 4);
}

#[tokio::test]
async fn nothing_is_locked_or_written_without_quotas() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let store = open(&schema, 1).await;
    quotas::limit(&store).await;
    let other = Actor::new("other", "ann");
    let none = QuotaDefaults::default();
    let locked = [lock(&schema, "other").await, lock(&schema, "acme").await];
    assert_eq!(store.count_run(&other, &none).await.unwrap(), Ok(()));
    let mut key = quotas::key("ann", "r");
    key.owner = other.clone();
    assert_eq!(store.open_allowance(&key, &none).await.unwrap(), None);
    assert_eq!(store.quota_usage(&other, &none).await.unwrap(), []);
    // Nor by those who look.
    assert_eq!(quotas::usage(&store, "ann").await.len(), 2);
    assert_eq!(count(&schema, "quota_usage").await, 0);
    drop(locked);
}

#[tokio::test]
async fn tenants_do_not_wait_for_others() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let store = open(&schema, 1).await;
    let _locked = [lock(&schema, "other").await, lock("another_schema", "acme").await];
    quotas::fill(&store).await;
    assert_eq!(count(&schema, "quota_usage").await, 8);
}

#[tokio::test]
async fn allowances_that_were_left_are_deleted() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let store = open(&schema, 2).await;
    let pass_days = async |days: u64| {
        let millis = days * 24 * 3600 * 1000;
        admin(&format!(
            "UPDATE {schema}.quota_allowances SET expires_at = expires_at - {millis}"
        ))
        .await;
    };
    let rows = async || count(&schema, "quota_allowances").await;
    quotas::allowances_that_were_left_are_deleted(&store, pass_days, rows).await;
}

#[tokio::test]
async fn runs_leave_no_rows() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    let rows = async || {
        [
            count(&schema, "quota_usage").await,
            count(&schema, "quota_allowances").await,
        ]
    };
    quotas::runs_leave_no_rows(&open(&schema, 2).await, rows).await;
}

#[tokio::test]
async fn the_database_refuses_bad_quotas() {
    need_server!();
    let schemas = Schemas::default();
    let schema = schemas.take().await;
    quotas::fill(&open(&schema, 1).await).await;
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    for (table, change) in quotas::REFUSED {
        let sql = AssertSqlSafe(format!("UPDATE {schema}.{table} SET {change}"));
        let error = sqlx::raw_sql(sql).execute(&mut connection).await.expect_err(change);
        assert!(error.to_string().contains("check constraint"), "{change}: {error}");
    }
}

/// Returns the rows of the tables of quotas that were read, when all connections to a schema have ended.
async fn rows_read(schema: &str) -> i64 {
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let ended = "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = $1)";
    while !sqlx::query_scalar::<_, bool>(ended)
        .bind(schema)
        .fetch_one(&mut connection)
        .await
        .unwrap()
    {}
    let read = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables
                WHERE schemaname = $1 AND relname LIKE 'quota%'";
    sqlx::query_scalar(read)
        .bind(schema)
        .fetch_one(&mut connection)
        .await
        .unwrap()
}

#[tokio::test]
async fn the_cost_of_a_draw_does_not_depend_on_what_was_before() {
    const DRAWS: usize = 50;
    need_server!();
    let names = Names::default();
    let schema = names.name();
    open(&schema, 1).await.close().await;
    admin(&format!(
        "SET search_path TO {schema};
         INSERT INTO quotas (tenant, subject_user, scope, window_name, tokens)
         SELECT tenant, 'user ' || number, 'user', 'month', 1000000
         FROM generate_series(1, 20000) AS number, (VALUES ('acme'), ('other')) AS tenants (tenant);
         INSERT INTO quota_usage (tenant, subject, window_name, start_at, runs, model_calls, tokens, micros)
         SELECT tenant, subject_user, window_name, 0, 1, 1, 1, 1 FROM quotas;
         INSERT INTO quota_allowances (
             tenant, place, \"user\", holder, expires_at, spent_runs, spent_model_calls, spent_tokens, spent_micros,
             held_runs, held_model_calls, held_tokens, held_micros,
             presumed_runs, presumed_model_calls, presumed_tokens, presumed_micros
         )
         SELECT tenant, 'place ' || number, 'user ' || number % 100, 'h', extract(epoch FROM now()) * 1000 - number,
             1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1
         FROM generate_series(1, 20000) AS number, (VALUES ('acme'), ('other')) AS tenants (tenant);
         ANALYZE quotas; ANALYZE quota_usage; ANALYZE quota_allowances"
    ))
    .await;
    let before = rows_read(&schema).await;
    let store = open(&schema, 1).await;
    quotas::draw_often(&store, DRAWS).await;
    store.close().await;
    let read = rows_read(&schema).await - before;
    // The rows of usage of the tenant and the user, a quota and the allowance, which are read and then written.
    let most = i64::try_from(DRAWS).unwrap() * 30;
    assert!(0 < read && read < most, "{read} rows were read");
}
