//! [`Shelf`]: the tools of an agent, divided into those that requests contain and those that can be loaded.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::{TokenEstimator, Tool};
use agcore_tools::{ToolError, ToolSession, ToolSnapshot};

use super::super::offer::{OfferedTools, ToolOffer};
use super::{
    catalog::Catalog,
    listing::listing,
    settings::ToolSearch,
    tool::{SEARCH_TOOLS, search_tool},
};

/// The number of lists of tools whose shelves are remembered, and that of lists of loaded tools for each of them.
const REMEMBERED: usize = 8;

/// The shelves of a bundle: one for each list of tools that an agent sees.
pub(crate) struct ToolShelves {
    settings: ToolSearch,
    estimator: Arc<dyn TokenEstimator>,
    newest: Mutex<Vec<Known>>,
}

/// A list of tools with its shelf, if there is one.
struct Known {
    tools: Arc<ToolSnapshot>,
    forced: Vec<String>,
    shelf: Option<Arc<Shelf>>,
}

/// The tools of an agent, divided into those that requests contain and those that can be loaded.
pub(super) struct Shelf {
    /// All tools, with the one that loads others.
    pub(super) callable: Arc<ToolSnapshot>,
    /// The definitions that every request contains.
    always: Arc<[Tool]>,
    catalog: Arc<Catalog>,
    pub(super) prompt: String,
    /// The tokens of the definitions that requests leave out.
    tokens: u64,
    /// The definitions of the newest requests, by the tools that were loaded.
    lists: Mutex<Vec<List>>,
}

/// Definitions, with the names of the tools that were loaded.
type List = (Vec<String>, Arc<[Tool]>);

impl ToolShelves {
    pub(crate) fn new(settings: ToolSearch, estimator: Arc<dyn TokenEstimator>) -> Self {
        Self {
            settings,
            estimator,
            newest: Mutex::default(),
        }
    }

    /// Returns the shelf of these tools, or `None` if all of them are always offered.
    fn shelf(&self, tools: &Arc<ToolSnapshot>, forced: &[String]) -> Option<Arc<Shelf>> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |known: &&Known| Arc::ptr_eq(&known.tools, tools) && known.forced == forced;
        if let Some(known) = newest.iter().find(is_known) {
            return known.shelf.clone();
        }
        let shelf = match self.build(tools, forced) {
            Ok(shelf) => shelf.map(Arc::new),
            Err(error) => {
                tracing::warn!(
                    %error,
                    "tool search is off, because the tool `{SEARCH_TOOLS}` cannot be added; rename the other tool"
                );
                None
            }
        };
        if newest.len() == REMEMBERED {
            newest.remove(0);
        }
        newest.push(Known {
            tools: Arc::clone(tools),
            forced: forced.to_vec(),
            shelf: shelf.clone(),
        });
        shelf
    }

    fn build(&self, tools: &Arc<ToolSnapshot>, forced: &[String]) -> Result<Option<Shelf>, ToolError> {
        let defers = |tool: &&agcore_tools::RegisteredTool| {
            self.settings.defers(tool) && !forced.iter().any(|name| *name == **tool.name())
        };
        let catalog = Arc::new(Catalog::new(tools.tools().iter().filter(defers).cloned()));
        if catalog.entries().is_empty() {
            return Ok(None);
        }
        let callable = tools.with_tool(search_tool(Arc::clone(&catalog), self.settings.max_results)?)?;
        let always = callable.subset(|tool| catalog.get(tool.name()).is_none()).definitions();
        let tokens = catalog
            .entries()
            .iter()
            .map(|entry| self.estimator.tool(&entry.tool.definition()));
        Ok(Some(Shelf {
            tokens: tokens.fold(0, u64::saturating_add),
            prompt: listing(&catalog, self.settings.list_tokens, &*self.estimator),
            callable,
            always,
            catalog,
            lists: Mutex::default(),
        }))
    }
}

impl ToolOffer for ToolShelves {
    fn offered(
        &self,
        tools: &Arc<ToolSnapshot>,
        forced: &[String],
        session: &ToolSession,
    ) -> Option<Arc<dyn OfferedTools>> {
        let shelf = self.shelf(tools, forced)?;
        let is_long = shelf.tokens > self.settings.threshold;
        // A session that has loaded tools keeps its list as it is.
        let is_on = is_long
            || session
                .loaded_tools()
                .iter()
                .any(|name| shelf.catalog.get(name).is_some());
        is_on.then_some(shelf as Arc<dyn OfferedTools>)
    }
}

impl Shelf {
    /// Returns whether requests leave a tool out, given the tools that were loaded.
    pub(super) fn hides(&self, name: &str, loaded: &[String]) -> bool {
        self.catalog.get(name).is_some() && !loaded.iter().any(|known| known == name)
    }

    /// Returns the definitions that a request contains: those that all requests contain, then those of loaded tools in the order of
    /// loading.
    pub(super) fn definitions(&self, loaded: &[String]) -> Arc<[Tool]> {
        let entries: Vec<_> = loaded.iter().filter_map(|name| self.catalog.get(name)).collect();
        if entries.is_empty() {
            return Arc::clone(&self.always);
        }
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        // The token counts of lists are remembered by their allocation, so equal ones should be the same.
        if let Some((_, list)) = lists.iter().find(|(names, _)| names == loaded) {
            return Arc::clone(list);
        }
        let added = entries.iter().map(|entry| entry.tool.definition());
        let list: Arc<[Tool]> = self.always.iter().cloned().chain(added).collect();
        if lists.len() == REMEMBERED {
            lists.remove(0);
        }
        lists.push((loaded.to_vec(), Arc::clone(&list)));
        list
    }
}
