//! [`KnowledgeTools`]: tools with which a model finds, saves, changes and deletes pages of a wiki.

mod arguments;
mod forget;
mod read_page;
mod remember;
mod retrieve;
mod update_page;
mod wiki;

use std::{fmt, sync::Arc};

use agcore_memory::search::{Keywords, MemoryRetriever};
use agcore_tools::{ToolError, ToolRegistry};

use self::wiki::Wiki;
use crate::tool_source::ToolSource;

/// Tools with which a model uses a wiki:
///
/// | tool | permission | |
/// |---|---|---|
/// | `retrieve` | read | finds the pages for a question, and of long pages the passages that match; the result names their ids, or the places in files from which they were made, so that the model can cite them |
/// | `read_page` | read | reads a part of a page, to read on where `retrieve` found a passage |
/// | `remember` | write | saves a new page |
/// | `update_page` | write | changes parts of a page |
/// | `forget` | delete | deletes a page |
///
/// They act for the [actor](crate::AgentSession::with_actor) of the session. All pages of the actor's tenant are found; only
/// those that belong to the actor are changed and deleted, unless [`with_shared_pages`](Self::with_shared_pages) is set.
///
/// What pages contain is data that anyone may have written: treat a model that reads them as one that reads user input. By
/// default, the permission rules of an agent deny `forget` and ask about `remember` and `update_page`.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_agent::agent;
/// use agcore_chat::{SystemClock, ToolCall};
/// use agcore_memory::{
///     knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore},
///     search::{InMemoryTextIndex, KnowledgeIndex, MemoryRetriever},
/// };
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let clock = Arc::new(SystemClock::new());
/// let store = Arc::new(InMemoryKnowledgeStore::new(clock.clone()));
/// store.add(KnowledgePage::new("tomatoes", "Tomatoes", "Water them in the morning.")).await?;
/// let index = KnowledgeIndex::new(store, Arc::new(InMemoryTextIndex::new()));
/// let retriever = MemoryRetriever::new(Arc::new(index), clock);
///
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::calls([ToolCall::function("call_1", "retrieve", r#"{"query": "When to water tomatoes?"}"#)]),
/// #     ScriptStep::text("In the morning [tomatoes]."),
/// # ]);
/// let session = agent(model).with_knowledge(retriever).session()?;
/// assert_eq!(session.turn("When do I water tomatoes?").await?.text(), "In the morning [tomatoes].");
/// assert!(session.messages().await[2].text().contains("Water them in the morning."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "tools do nothing before they are given to a builder"]
pub struct KnowledgeTools {
    wiki: Arc<Wiki>,
    is_read_only: bool,
}

impl KnowledgeTools {
    /// Creates the tools of a wiki.
    pub fn new(retriever: MemoryRetriever) -> Self {
        Self {
            wiki: Arc::new(Wiki {
                retriever,
                keywords: Arc::new(Keywords::new()),
                shares_pages: false,
            }),
            is_read_only: false,
        }
    }

    /// Leaves only `retrieve` and `read_page`.
    pub fn with_read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Lets pages be changed and deleted that belong to other users of the tenant, as in the wiki of a team.
    pub fn with_shared_pages(mut self) -> Self {
        Arc::make_mut(&mut self.wiki).shares_pages = true;
        self
    }
}

impl From<MemoryRetriever> for KnowledgeTools {
    fn from(retriever: MemoryRetriever) -> Self {
        Self::new(retriever)
    }
}

impl fmt::Debug for KnowledgeTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnowledgeTools")
            .field("retriever", &self.wiki.retriever)
            .field("is_read_only", &self.is_read_only)
            .field("shares_pages", &self.wiki.shares_pages)
            .finish()
    }
}

impl ToolSource for KnowledgeTools {
    fn add_to(self, registry: &mut ToolRegistry) -> Result<(), ToolError> {
        registry.register(retrieve::tool(Arc::clone(&self.wiki)))?;
        registry.register(read_page::tool(Arc::clone(&self.wiki)))?;
        if self.is_read_only {
            return Ok(());
        }
        registry.register(remember::tool(Arc::clone(&self.wiki)))?;
        registry.register(update_page::tool(Arc::clone(&self.wiki)))?;
        registry.register(forget::tool(self.wiki))
    }
}
