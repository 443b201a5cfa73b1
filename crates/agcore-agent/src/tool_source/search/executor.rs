//! [`OfferedTools`] for shelves: an executor that offers their tools, and notes which ones are loaded.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use agcore_chat::{Tool, ToolCall, ToolExecutor, ToolOutcome, ToolReport, ToolReports, ToolWork};
use agcore_tools::{ToolSession, ToolSnapshot};
use futures_util::{StreamExt, stream};

use super::super::offer::OfferedTools;
use super::{
    shelf::Shelf,
    tool::{SEARCH_TOOLS, loaded_by},
};

/// Offers the tools of a shelf: those that are always offered, then those that the session has loaded. Calls of other tools are
/// answered without running them; all others are those of the executor within, with its checks and layers.
struct SearchExecutor {
    shelf: Arc<Shelf>,
    inner: Arc<dyn ToolExecutor>,
    session: ToolSession,
    /// Whether the executor within answers from a recording, which has the answers to calls of tools that were not loaded.
    is_replay: bool,
}

impl OfferedTools for Shelf {
    fn callable(&self) -> &Arc<ToolSnapshot> {
        &self.callable
    }

    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn executor(
        self: Arc<Self>,
        inner: Arc<dyn ToolExecutor>,
        session: ToolSession,
        is_replay: bool,
    ) -> Arc<dyn ToolExecutor> {
        Arc::new(SearchExecutor {
            shelf: self,
            inner,
            session,
            is_replay,
        })
    }
}

impl SearchExecutor {
    /// Returns whether a call is one of a tool that the model cannot know yet. A call that continues was started before.
    fn is_unknown(&self, work: &ToolWork, loaded: &[String]) -> bool {
        work.resumed.is_none() && self.shelf.hides(&work.call.name, loaded)
    }
}

impl ToolExecutor for SearchExecutor {
    fn definitions(&self) -> Arc<[Tool]> {
        self.shelf.definitions(&self.session.loaded_tools())
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        let loaded = self.session.loaded_tools();
        let (mut unknown, mut searches) = (HashMap::new(), HashSet::new());
        for work in &work {
            if self.is_unknown(work, &loaded) {
                unknown.insert(work.call.id.clone(), work.call.name.clone());
            } else if work.call.name == SEARCH_TOOLS {
                searches.insert(work.call.id.clone());
            }
        }
        if unknown.is_empty() && searches.is_empty() {
            return self.inner.execute(work);
        }
        let (answered, run): (Vec<_>, Vec<_>) = work
            .into_iter()
            .partition(|work| !self.is_replay && unknown.contains_key(&work.call.id));
        let answers = answered.into_iter().map(|work| {
            let outcome = ToolOutcome::error(not_loaded(&work.call.name));
            ToolReport::settled(work.call.id.as_str(), outcome, Duration::ZERO)
        });
        let answers = stream::iter(answers);
        let reports: ToolReports = match run.is_empty() {
            true => Box::pin(answers),
            false => Box::pin(answers.chain(self.inner.execute(run))),
        };
        let session = self.session.clone();
        Box::pin(reports.inspect(move |report| {
            let ToolReport::Settled { call_id, outcome, .. } = report else {
                return;
            };
            if let Some(name) = unknown.get(&**call_id) {
                session.load_tool(name);
            } else if let ToolOutcome::Done(result) = outcome
                && searches.contains(&**call_id)
                && let Some(display) = &result.display
            {
                for name in loaded_by(display) {
                    session.load_tool(name);
                }
            }
        }))
    }

    fn reports_begin(&self) -> bool {
        self.inner.reports_begin()
    }

    fn begins_at_once(&self, work: &[ToolWork]) -> bool {
        let loaded = self.session.loaded_tools();
        !work.iter().any(|work| self.is_unknown(work, &loaded)) && self.inner.begins_at_once(work)
    }

    fn is_repeatable(&self, call: &ToolCall) -> bool {
        self.inner.is_repeatable(call)
    }
}

fn not_loaded(name: &str) -> String {
    format!(
        "`{name}` was not loaded, so the call did not run. It is loaded now: compare your arguments with its definition, and call \
         it again."
    )
}
