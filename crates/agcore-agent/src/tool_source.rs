//! [`ToolSource`]: what [`AgentBuilder::with_tools`](crate::AgentBuilder::with_tools) accepts. [`ToolOffer`]: which of the tools
//! requests contain.

mod offer;
#[cfg(feature = "tool-search")]
mod search;

pub(crate) use self::offer::{OfferedTools, ToolOffer};
#[cfg(feature = "tool-search")]
pub use self::search::ToolSearch;
#[cfg(feature = "tool-search")]
pub(crate) use self::search::ToolShelves;

use agcore_tools::{IntoRegistration, ToolError, ToolRegistry};

/// A registry, or a list of tools, for [`AgentBuilder::with_tools`](crate::AgentBuilder::with_tools).
///
/// A registry replaces the tools that were added before, and is shared: tools that are registered in it later reach all
/// sessions with their next turn. The tools of an array or a `Vec` are added. Tools of different types are listed with
/// [`agcore_tools::tools!`].
pub trait ToolSource {
    /// Adds the tools to a registry, or replaces the registry.
    ///
    /// # Errors
    /// When a tool cannot be registered.
    fn add_to(self, registry: &mut ToolRegistry) -> Result<(), ToolError>;
}

impl ToolSource for ToolRegistry {
    fn add_to(self, registry: &mut ToolRegistry) -> Result<(), ToolError> {
        *registry = self;
        Ok(())
    }
}

impl<T: IntoRegistration, const N: usize> ToolSource for [T; N] {
    fn add_to(self, registry: &mut ToolRegistry) -> Result<(), ToolError> {
        registry.register_all(self)
    }
}

impl<T: IntoRegistration> ToolSource for Vec<T> {
    fn add_to(self, registry: &mut ToolRegistry) -> Result<(), ToolError> {
        registry.register_all(self)
    }
}
