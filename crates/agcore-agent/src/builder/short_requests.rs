//! Methods that keep requests short: tools that are loaded when they are needed, and shorter results.

use super::AgentBuilder;
use crate::session_data::ResultCompression;
#[cfg(feature = "tool-search")]
use crate::tool_source::ToolSearch;

impl AgentBuilder {
    /// Shows the model long results of tools in a shorter form. See [`ResultCompression`] for an example.
    pub fn with_compressed_results(mut self, compression: ResultCompression) -> Self {
        self.offer.results = Some(compression);
        self
    }
}

#[cfg(feature = "tool-search")]
impl AgentBuilder {
    /// Leaves tools out of requests until the model loads them, if there are many. See
    /// [`ToolSearch`] for an example.
    pub fn with_tool_search(mut self, search: ToolSearch) -> Self {
        self.offer.search = Some(search);
        self
    }
}
