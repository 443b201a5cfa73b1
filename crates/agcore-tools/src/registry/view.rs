//! [`ToolView`]: a filtered view of a registry.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::Tool;

use super::{entry::RegisteredTool, handle::ToolRegistry, snapshot::ToolSnapshot};

/// A filtered view of a registry, for one agent. Tools outside the view can be neither seen nor called through it.
///
/// The view is live: a tool that is registered later appears in it if it passes the filter.
///
/// ```
/// use agcore_tools::{NoArguments, Registration, ToolError, ToolRegistry, typed};
///
/// let tool = |name: &str| Registration::new(typed(name, "Does something.", |_: NoArguments| async { Ok(()) }));
/// let tools = ToolRegistry::new();
/// tools.register(tool("search").with_tag("safe"))?;
/// tools.register(tool("delete"))?;
///
/// let view = tools.subset(|tool| tool.has_tag("safe"));
/// assert!(view.get("search").is_some() && view.get("delete").is_none());
///
/// tools.register(tool("read").with_tag("safe"))?;
/// assert_eq!(view.list().len(), 2);
/// # Ok::<(), ToolError>(())
/// ```
#[derive(Clone)]
pub struct ToolView {
    registry: ToolRegistry,
    keep: Filter,
    /// The last filtered snapshot, shared by all turns until the registry changes.
    last: Arc<Mutex<Option<Arc<ToolSnapshot>>>>,
}

type Filter = Arc<dyn Fn(&RegisteredTool) -> bool + Send + Sync>;

impl ToolRegistry {
    /// Returns a live view of the tools for which `keep` returns `true`.
    #[must_use]
    pub fn subset(&self, keep: impl Fn(&RegisteredTool) -> bool + Send + Sync + 'static) -> ToolView {
        ToolView::new(self.clone(), Arc::new(keep))
    }
}

impl ToolView {
    fn new(registry: ToolRegistry, keep: Filter) -> Self {
        Self {
            registry,
            keep,
            last: Arc::default(),
        }
    }

    /// Returns the current tools of the view.
    pub fn snapshot(&self) -> Arc<ToolSnapshot> {
        let whole = self.registry.snapshot();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(snapshot) if snapshot.revision() == whole.revision() => Arc::clone(snapshot),
            _ => Arc::clone(last.insert(whole.subset(|tool| (self.keep)(tool)))),
        }
    }

    /// Returns a tool of the view by name.
    pub fn get(&self, name: &str) -> Option<RegisteredTool> {
        self.snapshot().get(name).cloned()
    }

    /// Returns the tools of the view, sorted by name.
    pub fn list(&self) -> Vec<RegisteredTool> {
        self.snapshot().tools().to_vec()
    }

    /// Returns the definitions that a model receives.
    pub fn definitions(&self) -> Arc<[Tool]> {
        self.snapshot().definitions()
    }

    /// Returns a narrower view: the tools of this view for which `keep` returns `true`.
    #[must_use]
    pub fn subset(&self, keep: impl Fn(&RegisteredTool) -> bool + Send + Sync + 'static) -> Self {
        let outer = Arc::clone(&self.keep);
        Self::new(self.registry.clone(), Arc::new(move |tool| outer(tool) && keep(tool)))
    }
}

impl fmt::Debug for ToolView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolView")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}
