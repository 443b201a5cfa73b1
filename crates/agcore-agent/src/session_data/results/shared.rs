//! [`ShortResults`]: the part of the compression of results that sessions share.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::TokenEstimator;
use agcore_tools::{RegisteredTool, ToolError, ToolSnapshot};

use super::{
    read::read_result_tool,
    settings::{READ_RESULT, ResultCompression},
    view::SessionResults,
};

/// The number of lists of tools that are remembered.
const REMEMBERED: usize = 8;

/// The settings of a bundle, and the tool with which its models read what was left out.
pub(crate) struct ShortResults {
    settings: Arc<ResultCompression>,
    estimator: Arc<dyn TokenEstimator>,
    tool: RegisteredTool,
    /// The newest lists of tools, without and with that tool.
    lists: Mutex<Vec<(Arc<ToolSnapshot>, Arc<ToolSnapshot>)>>,
}

impl ShortResults {
    pub(crate) fn new(settings: ResultCompression, estimator: Arc<dyn TokenEstimator>) -> Result<Self, ToolError> {
        Ok(Self {
            settings: Arc::new(settings),
            estimator,
            tool: read_result_tool()?,
            lists: Mutex::default(),
        })
    }

    /// Returns the results of a session that has none yet.
    pub(crate) fn session(&self) -> Arc<SessionResults> {
        Arc::new(SessionResults::new(
            Arc::clone(&self.settings),
            Arc::clone(&self.estimator),
        ))
    }

    /// Returns a list of tools with the one that reads results. `None` if there is another tool with its name, so that nothing can
    /// be left out.
    pub(crate) fn with_tool(&self, tools: &Arc<ToolSnapshot>) -> Option<Arc<ToolSnapshot>> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, with)) = lists.iter().find(|(without, _)| Arc::ptr_eq(without, tools)) {
            return Some(Arc::clone(with));
        }
        let with = match tools.with_tool(self.tool.clone()) {
            Ok(with) => with,
            Err(error) => {
                tracing::warn!(
                    %error,
                    "results are not shortened, because the tool `{READ_RESULT}` cannot be added; rename the other tool"
                );
                return None;
            }
        };
        if lists.len() == REMEMBERED {
            lists.remove(0);
        }
        lists.push((Arc::clone(tools), Arc::clone(&with)));
        Some(with)
    }
}
