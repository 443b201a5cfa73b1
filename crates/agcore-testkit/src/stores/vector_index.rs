//! The behaviors of indexes of vectors. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

use std::sync::Arc;

use agcore_memory::{
    MemoryErrorKind,
    knowledge::Position,
    search::{IndexChanges, VectorIndex},
};

use crate::stores::VectorIndexSubject;

/// Returns changes from nothing to a position, with vectors.
fn saved(vectors: &[(&str, &[f32])]) -> IndexChanges<Vec<f32>> {
    let start = IndexChanges::new(None, Some(Position::new(1, 1)));
    let add = |changes: IndexChanges<Vec<f32>>, (id, vector): &(&str, &[f32])| changes.with_saved(*id, vector.to_vec());
    vectors.iter().fold(start, add)
}

async fn filled(subject: &dyn VectorIndexSubject) -> Arc<dyn VectorIndex> {
    let index = subject.vector_index().await;
    let vectors: [(&str, &[f32]); 3] = [
        ("east", &[5.0, 0.0]),
        ("north", &[0.0, 0.1]),
        ("northeast", &[1.0, 1.0]),
    ];
    assert!(index.apply("local", saved(&vectors)).await.unwrap());
    index
}

async fn found(index: &dyn VectorIndex, vector: &[f32]) -> Vec<String> {
    let hits = index.search("local", vector, 10).await.unwrap();
    hits.into_iter().map(|hit| hit.id).collect()
}

/// Similar vectors come first, whatever their lengths, and equal ones in the order of their ids.
pub async fn finds_the_most_similar(subject: &dyn VectorIndexSubject) {
    let index = subject.vector_index().await;
    assert_eq!(index.search("local", &[1.0, 2.0, 3.0], 5).await.unwrap(), []);
    let index = filled(subject).await;
    assert_eq!(found(&*index, &[9.0, 1.0]).await, ["east", "northeast", "north"]);
    let hits = index.search("local", &[0.0, 1e30], 2).await.unwrap();
    assert_eq!((hits[0].id.as_str(), hits.len()), ("north", 2));
    assert!((hits[0].score - 1.0).abs() < 1e-6 && (hits[1].score - 0.5_f64.sqrt()).abs() < 1e-6);
    let opposite = index.search("local", &[0.0, -1.0], 3).await.unwrap();
    assert!((opposite[2].score + 1.0).abs() < 1e-6, "{opposite:?}");
    assert_eq!(index.search("local", &[1.0, 0.0], 0).await.unwrap(), []);
    let many = subject.vector_index().await;
    let ids: Vec<String> = (0..500).rev().map(|number| format!("{number:03}")).collect();
    let vectors: Vec<(&str, &[f32])> = ids.iter().map(|id| (id.as_str(), &[1.0, 1.0][..])).collect();
    assert!(many.apply("local", saved(&vectors)).await.unwrap());
    assert_eq!(found(&*many, &[1.0, 1.0]).await[..3], ["000", "001", "002"]);
    assert_eq!(many.search("local", &[1.0, 1.0], 1000).await.unwrap().len(), 500);
}

/// A vector that is saved again is replaced, and one that is removed is not found. Of the same id, the last vector counts.
pub async fn replaces_and_removes(subject: &dyn VectorIndexSubject) {
    let index = filled(subject).await;
    let (first, second) = (Some(Position::new(1, 1)), Some(Position::new(1, 2)));
    let mut changes = IndexChanges::new(first, second).with_saved("east", vec![0.0, 1.0]);
    changes = changes
        .with_saved("west", vec![0.0, 1.0])
        .with_saved("west", vec![-1.0, 0.0]);
    changes.removed = vec!["north".to_owned(), "no".to_owned()];
    assert!(index.apply("local", changes).await.unwrap());
    assert_eq!(found(&*index, &[0.0, 1.0]).await, ["east", "northeast", "west"]);
    assert_eq!(index.position("local").await.unwrap(), second);
    assert!(!index.apply("local", saved(&[("x", &[1.0, 0.0])])).await.unwrap());
    assert_eq!(found(&*index, &[0.0, 1.0]).await.len(), 3);
}

/// A vector that is not usable, or has another number of dimensions, is refused, and nothing changes.
pub async fn refuses_unusable_vectors(subject: &dyn VectorIndexSubject) {
    let index = filled(subject).await;
    let after = Some(Position::new(1, 1));
    for vector in [&[][..], &[1.0, f32::NAN], &[f32::INFINITY, 0.0], &[1.0, 2.0, 3.0]] {
        let error = index.search("local", vector, 5).await.unwrap_err();
        assert_eq!(error.kind(), MemoryErrorKind::Retrieval, "{vector:?}");
        let changes = IndexChanges::new(after, Some(Position::new(1, 2)));
        let changes = changes
            .with_saved("good", vec![1.0, 0.0])
            .with_saved("bad", vector.to_vec());
        let error = index.apply("local", changes).await.unwrap_err();
        assert_eq!(error.kind(), MemoryErrorKind::Retrieval, "{vector:?}");
    }
    assert_eq!(index.position("local").await.unwrap(), after);
    assert_eq!(found(&*index, &[1.0, 0.0]).await, ["east", "northeast", "north"]);
    let fresh = subject.vector_index().await;
    assert!(
        fresh
            .apply("local", saved(&[("a", &[1.0]), ("b", &[1.0, 2.0])]))
            .await
            .is_err()
    );
    assert_eq!(fresh.position("local").await.unwrap(), None);
    // A vector without a direction is similar to none.
    assert!(
        fresh
            .apply("local", saved(&[("a", &[0.0, 0.0]), ("b", &[0.0, 1.0])]))
            .await
            .unwrap()
    );
    assert_eq!(found(&*fresh, &[0.0, 1.0]).await, ["b", "a"]);
}

/// A reset removes all vectors, after which those of another model may come.
pub async fn a_reset_forgets_everything(subject: &dyn VectorIndexSubject) {
    let index = filled(subject).await;
    let mut reset = IndexChanges::new(Some(Position::new(1, 1)), Some(Position::new(2, 1)));
    reset.is_reset = true;
    assert!(
        index
            .apply("local", reset.with_saved("a", vec![1.0, 2.0, 3.0]))
            .await
            .unwrap()
    );
    assert_eq!(found(&*index, &[1.0, 2.0, 3.0]).await, ["a"]);
    assert_eq!(index.position("local").await.unwrap(), Some(Position::new(2, 1)));
}

/// Each tenant has an index of its own.
pub async fn keeps_tenants_apart(subject: &dyn VectorIndexSubject) {
    let index = filled(subject).await;
    assert_eq!(index.search("other", &[1.0, 0.0], 5).await.unwrap(), []);
    assert_eq!(index.position("other").await.unwrap(), None);
    assert!(index.apply("other", saved(&[("a", &[1.0, 2.0, 3.0])])).await.unwrap());
    assert_eq!(index.search("other", &[1.0, 2.0, 3.0], 5).await.unwrap()[0].id, "a");
    assert_eq!(found(&*index, &[1.0, 0.0]).await.len(), 3);
}
