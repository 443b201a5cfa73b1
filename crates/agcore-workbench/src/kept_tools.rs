//! Tools with which a chat reads what `agcore knowledge` and `agcore memory` keep.

#[cfg(feature = "sqlite")]
mod recall;

use agcore::ToolRegistry;

/// Registers the tools for what the default database has: `retrieve` and `read_page` if it has pages, `recall` if it has
/// memories. Returns a warning if the database cannot be read, or an MCP server has a tool with the same name.
#[cfg(feature = "sqlite")]
pub async fn register(registry: &mut ToolRegistry) -> Option<String> {
    use std::sync::Arc;

    use agcore::{
        agent::{KnowledgeTools, ToolSource},
        chat::{Actor, SystemClock},
        memory::{
            MemoryFilter, MemoryStore,
            knowledge::{KnowledgeStore, PageFilter},
            search::{KnowledgeIndex, MemoryRetriever},
        },
        store::{
            StoreError,
            sqlite::{SqliteOptions, SqliteStore},
        },
    };

    async fn contents(store: &SqliteStore) -> Result<(bool, bool), StoreError> {
        let tenant = Actor::local().tenant;
        let mut pages = PageFilter::new(tenant.to_string());
        pages.limit = Some(1);
        let mut items = MemoryFilter::new(tenant);
        items.limit = Some(1);
        let has_pages = !KnowledgeStore::list(store, &pages).await?.is_empty();
        let has_items = !MemoryStore::list(store, &items).await?.is_empty();
        Ok((has_pages, has_items))
    }

    let path = database()?;
    let clock = Arc::new(SystemClock::new());
    let store = SqliteOptions::new(&path).open(clock.clone()).await;
    let opened = async {
        let store = store?;
        contents(&store).await.map(|contents| (store, contents))
    };
    let (store, (has_pages, has_items)) = match opened.await {
        Ok(opened) => opened,
        Err(error) => return Some(format!("the model cannot use your pages and notes: {error}")),
    };
    let mut problems = Vec::new();
    if has_pages {
        let index = KnowledgeIndex::new(Arc::new(store.clone()), Arc::new(store.text_index()));
        let retriever = MemoryRetriever::new(Arc::new(index), clock);
        let tools = KnowledgeTools::new(retriever).with_read_only();
        problems.extend(tools.add_to(registry).err());
    }
    if has_items {
        problems.extend(registry.register(recall::tool(Arc::new(store))).err());
    }
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    (!problems.is_empty()).then(|| {
        format!(
            "the model cannot use all of your pages and notes: {}",
            problems.join("; ")
        )
    })
}

/// Registers nothing, because the program has no database.
#[cfg(not(feature = "sqlite"))]
#[expect(
    clippy::unused_async,
    reason = "the same function awaits the database where there is one"
)]
pub async fn register(_: &mut ToolRegistry) -> Option<String> {
    None
}

/// Returns the file of the database. If sessions are in a database server, the pages of a file do not belong to them.
#[cfg(feature = "sqlite")]
fn database() -> Option<std::path::PathBuf> {
    let is_local = agcore_terminal::process::variable(agcore_settings::STORE).is_none();
    agcore_settings::places::database().filter(|path| is_local && path.is_file())
}
