//! [`Opened`]: an index to check.

use std::sync::Arc;

use agcore_memory::{
    knowledge::Position,
    search::{IndexChanges, TextDocument, TextIndex},
};

use crate::stores::TextIndexSubject;

/// An index with the position that it has.
pub(super) struct Opened {
    pub(super) index: Arc<dyn TextIndex>,
    pub(super) position: Option<Position>,
}

pub(super) async fn open(subject: &dyn TextIndexSubject) -> Opened {
    let index = subject.text_index().await;
    Opened { index, position: None }
}

impl Opened {
    /// Applies changes of the tenant `local`.
    pub(super) async fn apply(&mut self, saved: Vec<TextDocument>, removed: &[&str]) {
        let next = Position::new(1, self.position.map_or(1, |position| position.change + 1));
        let mut changes = IndexChanges::new(self.position, Some(next));
        changes.saved = saved
            .into_iter()
            .map(|document| (document.id.clone(), document))
            .collect();
        changes.removed = removed.iter().map(|id| (*id).to_owned()).collect();
        assert!(
            self.index.apply("local", changes).await.unwrap(),
            "the changes were not applied"
        );
        self.position = Some(next);
    }

    /// Returns the ids that a query finds.
    pub(super) async fn found(&self, query: &str) -> Vec<String> {
        let hits = self.index.search("local", query, 10).await.unwrap();
        hits.into_iter().map(|hit| hit.id).collect()
    }
}

/// Returns a document without a title.
pub(super) fn document(id: &str, content: &str) -> TextDocument {
    TextDocument::new(id, "", content)
}
