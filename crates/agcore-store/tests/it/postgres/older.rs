//! Schemas that older versions have left.

use std::sync::Arc;

use agcore_store::postgres::PostgresStore;
use agcore_testkit::clock::ManualClock;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::server::{Names, admin, need_server, options_of, url};
use crate::older_versions::{check, fill};

const DUMPS: [&str; 5] = [
    include_str!("../older_versions/postgres-1.sql"),
    include_str!("../older_versions/postgres-2.sql"),
    include_str!("../older_versions/postgres-3.sql"),
    include_str!("../older_versions/postgres-4.sql"),
    include_str!("../older_versions/postgres-5.sql"),
];

async fn open(schema: &str) -> PostgresStore {
    let options = options_of(&url(), schema);
    options.open(Arc::new(ManualClock::new())).await.unwrap()
}

#[tokio::test]
async fn every_older_version_is_migrated_with_its_data() {
    need_server!();
    let names = Names::default();
    for (version, dump) in (1..).zip(DUMPS) {
        let schema = names.name();
        admin(&dump.replace("agcore_saved", &schema)).await;
        let store = open(&schema).await;
        check(&store, version).await;
        store.close().await;
        let mut connection = PgConnection::connect(&url()).await.unwrap();
        let versions = format!("SELECT array_agg(version ORDER BY version) FROM {schema}.agcore_migrations");
        let versions: Vec<i32> = sqlx::query_scalar(AssertSqlSafe(versions))
            .fetch_one(&mut connection)
            .await
            .unwrap();
        let newest = i32::try_from(DUMPS.len()).unwrap() + 1;
        assert_eq!(
            versions,
            (1..=newest).collect::<Vec<_>>(),
            "save a database of the version before the new one"
        );
    }
}

#[tokio::test]
async fn the_saved_data_is_what_this_version_writes() {
    need_server!();
    let names = Names::default();
    let store = open(&names.name()).await;
    fill(&store).await;
    check(&store, DUMPS.len() as u32 + 1).await;
}
