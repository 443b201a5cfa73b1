//! [`Wiki`]: the parts that all tools share.

use std::sync::Arc;

use agcore_memory::{
    Actor, MemoryError, MemoryErrorKind,
    knowledge::{KnowledgePage, KnowledgeStore},
    search::{Keywords, MemoryRetriever},
};
use agcore_tools::{ToolError, ToolErrorKind};

/// A wiki, and what may be done with it.
#[derive(Clone)]
pub(super) struct Wiki {
    pub(super) retriever: MemoryRetriever,
    /// Finds the passages of a page that match.
    pub(super) keywords: Arc<Keywords>,
    pub(super) shares_pages: bool,
}

impl Wiki {
    pub(super) fn store(&self) -> &Arc<dyn KnowledgeStore> {
        self.retriever.index().store()
    }

    /// Returns a page that the actor may change.
    pub(super) async fn changeable(&self, actor: &Actor, id: &str) -> Result<KnowledgePage, ToolError> {
        let page = self.store().get(&actor.tenant, id).await.map_err(failed)?;
        let Some(page) = page else {
            return Err(ToolError::failed(format!(
                "there is no page `{id}`; use `retrieve` to find the id"
            )));
        };
        if !self.shares_pages && page.owner.user != actor.user {
            return Err(ToolError::failed(format!(
                "the page `{id}` belongs to another user and cannot be changed; save a page of your own"
            )));
        }
        Ok(page)
    }
}

/// Returns the error of a store. The model can correct what it has passed, and learns nothing else of the storage.
pub(super) fn failed(error: MemoryError) -> ToolError {
    if error.kind() == MemoryErrorKind::InvalidInput {
        return ToolError::failed(error.to_string());
    }
    ToolError::new(ToolErrorKind::Other, "the wiki cannot be used at the moment").with_source(error)
}
