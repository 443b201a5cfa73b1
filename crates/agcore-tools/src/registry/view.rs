//! [`ToolView`]: a part of a registry, as one agent sees it.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::Tool;

use super::{entry::RegisteredTool, handle::ToolRegistry, snapshot::ToolSnapshot};

/// A part of a registry, as one agent sees it: what is not in it can neither be seen nor called.
///
/// It follows the registry: a tool that is registered later appears when it passes the filter.
#[derive(Clone)]
pub struct ToolView {
    registry: ToolRegistry,
    keep: Filter,
    /// The filtered form of the last snapshot, so that turns without a change in between share it.
    last: Arc<Mutex<Option<Arc<ToolSnapshot>>>>,
}

type Filter = Arc<dyn Fn(&RegisteredTool) -> bool + Send + Sync>;

impl ToolRegistry {
    /// The part of the registry that passes a filter, for an agent that shall not see the rest.
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

    /// The tools of the view at this moment.
    pub fn snapshot(&self) -> Arc<ToolSnapshot> {
        let whole = self.registry.snapshot();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(snapshot) if snapshot.revision() == whole.revision() => Arc::clone(snapshot),
            // A view of everything is the whole, with what was worked out for it.
            _ if whole.tools().iter().all(|tool| (self.keep)(tool)) => Arc::clone(last.insert(whole)),
            _ => Arc::clone(last.insert(Arc::new(whole.filter(|tool| (self.keep)(tool))))),
        }
    }

    /// A tool of the view by name.
    pub fn get(&self, name: &str) -> Option<RegisteredTool> {
        self.snapshot().get(name).cloned()
    }

    /// The tools of the view, sorted by name.
    pub fn list(&self) -> Vec<RegisteredTool> {
        self.snapshot().tools().to_vec()
    }

    /// What a model is told of the tools of the view.
    pub fn definitions(&self) -> Arc<[Tool]> {
        self.snapshot().definitions()
    }

    /// A part of this view.
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
