//! [`McpToolset`]: the tools of a server in a registry.

mod adapter;
mod options;
mod refresh;

use std::fmt;

use agcore_tools::{ToolError, ToolRegistry};
use tokio_util::task::AbortOnDropHandle;

use self::refresh::{Findings, Refresh};
pub use self::{adapter::McpTool, options::ToolsetOptions};
use crate::{client::McpClient, error::McpError};

/// The tools of a server in a registry, kept up to date. Made by [`McpClient::register_into`].
///
/// When the server reports that its list changed, the registry changes with it; runs that are in progress keep their
/// snapshot. Dropping this ends the updates and leaves the tools registered.
pub struct McpToolset {
    refresh: Refresh,
    findings: Findings,
    _task: AbortOnDropHandle<()>,
}

impl McpToolset {
    /// Returns why tools of the server were not registered, as of the first list: a missing or invalid schema, or a name
    /// that is in use.
    pub fn problems(&self) -> &[ToolError] {
        &self.findings.problems
    }

    /// Returns warnings about unused parts of the list and its tools, as of the first list: an invalid output schema, or the
    /// rest of a list whose cursor leads nowhere. The tools themselves are registered.
    pub fn warnings(&self) -> &[String] {
        &self.findings.warnings
    }

    /// Asks the server for its tools now, and updates the registry. Returns why tools could not be registered.
    ///
    /// # Errors
    /// As for [`McpClient::list_tools`]. The registry is unchanged then.
    pub async fn refresh(&self) -> Result<Vec<ToolError>, McpError> {
        Ok(self.refresh.run().await?.problems)
    }

    /// Ends the updates and removes the tools from the registry.
    pub fn unregister(self) {
        self.refresh.remove_all();
    }
}

impl fmt::Debug for McpToolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpToolset")
            .field("findings", &self.findings)
            .finish_non_exhaustive()
    }
}

impl McpClient {
    /// Returns the tools of the server as tools of agcore, which share this connection.
    ///
    /// To keep them up to date, use [`register_into`](Self::register_into) instead.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn tools(&self, options: &ToolsetOptions) -> Result<Vec<McpTool>, McpError> {
        let tools = self.list_tools().await?;
        let (tools, warnings) = adapter::adapt(self, tools, options);
        for warning in warnings {
            tracing::warn!(
                server = self.name(),
                warning,
                "a part of what an MCP server lists is not used"
            );
        }
        Ok(tools)
    }

    /// Registers the tools of the server, and updates the registry when the server changes them.
    ///
    /// The tools are ordinary tools: validation, permissions, approvals, audit and layers apply to them. By default,
    /// each needs the permission `mcp:` with the name of the server, which no rule allows until an application adds
    /// one; see [`ToolsetOptions::with_permissions`]. Tools that cannot be registered are reported by
    /// [`McpToolset::problems`].
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn register_into(
        &self,
        registry: &ToolRegistry,
        options: ToolsetOptions,
    ) -> Result<McpToolset, McpError> {
        let refresh = Refresh::new(self, registry, options);
        // Before the list, so that no change is missed.
        let events = self.events();
        let findings = refresh.run().await?;
        findings.log(self.name());
        let task = tokio::spawn(refresh.clone().follow(events));
        Ok(McpToolset {
            refresh,
            findings,
            _task: AbortOnDropHandle::new(task),
        })
    }
}
