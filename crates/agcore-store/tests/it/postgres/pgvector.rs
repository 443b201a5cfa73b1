//! Vectors that the server compares, where it has the extension pgvector.

use std::sync::Arc;

use agcore_memory::search::{IndexChanges, IndexHit, VectorIndex};
use agcore_store::postgres::{PostgresStore, PostgresVectorIndex};
use agcore_testkit::clock::ManualClock;
use sqlx::{Connection, PgConnection};

use super::server::{Names, admin, admin_of, need_server, options_of, url, url_of};

/// Returns whether the extension can be created.
async fn has_extension() -> bool {
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')";
    sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
}

async fn nearest(index: &PostgresVectorIndex) -> Vec<IndexHit> {
    index.search("local", &[1.0, 2.0, 3.0], 20).await.unwrap()
}

#[tokio::test]
async fn the_server_compares_vectors_with_the_same_results() {
    need_server!();
    if !has_extension().await {
        println!("skipped: the server does not have pgvector; run `cargo xtask pgvector`");
        return;
    }
    let names = Names::default();
    let database = names.name();
    admin(&format!("CREATE DATABASE {database}")).await;
    let url = url_of(&database);
    let store: PostgresStore = options_of(&url, "agcore")
        .open(Arc::new(ManualClock::new()))
        .await
        .unwrap();
    let index = store.vector_index("model");
    let mut random = fastrand::Rng::with_seed(7);
    let mut changes = IndexChanges::new(None, None).with_saved("zero", vec![0.0; 3]);
    for number in 0..500 {
        // Many have the same direction, and so the same score.
        let vector = (0..3).map(|_| f32::from(random.i8(-2..3))).collect();
        changes = changes.with_saved(number.to_string(), vector);
    }
    assert!(index.apply("local", changes).await.unwrap());
    let expected = nearest(&index).await;
    assert_eq!(expected.len(), 20);

    for schema in ["public", "\"Ext ensions\""] {
        admin_of(
            &url,
            &format!("CREATE SCHEMA IF NOT EXISTS {schema}; CREATE EXTENSION vector SCHEMA {schema}"),
        )
        .await;
        let found = nearest(&index).await;
        let scores = |hits: &[IndexHit]| hits.iter().map(|hit| hit.score).collect::<Vec<_>>();
        assert_eq!(scores(&found), scores(&expected), "{schema}");
        // Without its operator, the server cannot compare.
        let operator = format!("{schema}.<#> ({schema}.vector, {schema}.vector)");
        admin_of(
            &url,
            &format!("CREATE SCHEMA elsewhere; ALTER OPERATOR {operator} SET SCHEMA elsewhere"),
        )
        .await;
        index.search("local", &[1.0, 2.0, 3.0], 20).await.unwrap_err();
        admin_of(&url, "DROP EXTENSION vector; DROP SCHEMA elsewhere").await;
        assert_eq!(nearest(&index).await, expected, "{schema}");
    }
    store.close().await;
}
