//! The choice of the tools that requests contain, and of what models see of results.

use std::sync::Arc;

use crate::{
    bundle::AgentSettings,
    error::AgentError,
    session_data::{ResultCompression, ShortResults},
    tool_source::ToolOffer,
};

/// The part of the tools and their results that an agent offers. By default, all.
#[derive(Default)]
pub(super) struct OfferSettings {
    pub(super) results: Option<ResultCompression>,
    #[cfg(feature = "tool-search")]
    pub(super) search: Option<crate::tool_source::ToolSearch>,
}

/// The choice of the tools that requests contain, and the short forms of results.
type Offer = (Option<Arc<dyn ToolOffer>>, Option<Arc<ShortResults>>);

impl OfferSettings {
    /// Returns what decides which tools requests contain, and what shortens results, if that is wanted.
    pub(super) fn build(self, settings: &AgentSettings) -> Result<Offer, AgentError> {
        let base = settings.base();
        let estimator = &base.estimator;
        #[cfg(feature = "tool-search")]
        let offer = self.search.map(|search| {
            let shelves = crate::tool_source::ToolShelves::new(search, Arc::clone(estimator));
            Arc::new(shelves) as Arc<dyn ToolOffer>
        });
        #[cfg(not(feature = "tool-search"))]
        let offer = None;
        let results = self
            .results
            .map(|results| ShortResults::new(results, Arc::clone(estimator)));
        let results = results.transpose().map_err(AgentError::invalid_tool)?;
        Ok((offer, results.map(Arc::new)))
    }
}
