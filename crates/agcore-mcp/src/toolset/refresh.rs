//! [`Refresh`]: updates a registry when a server changes its tools.

use std::{
    collections::HashMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use agcore_tools::{BaseTool, Registration, ToolError, ToolErrorKind, ToolRegistry};

use super::{adapter, options::ToolsetOptions};
use crate::{
    client::{McpClient, ServerEvent, ServerEvents, Shared},
    error::{McpError, McpErrorKind},
};

/// The shortest time between two updates that a server causes.
const PAUSE: Duration = Duration::from_millis(500);

/// Distinguishes the toolsets of a process.
static NEXT_TAG: AtomicU64 = AtomicU64::new(0);

/// Updates a registry. Does not keep the connection open.
#[derive(Debug, Clone)]
pub(super) struct Refresh {
    client: Weak<Shared>,
    registry: ToolRegistry,
    options: Arc<ToolsetOptions>,
    /// The tag of the tools that belong to this toolset.
    tag: String,
    server_tag: String,
    /// One update at a time: the newest list wins.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// The problems that an update found.
#[derive(Debug)]
pub(super) struct Findings {
    /// Why tools are not registered.
    pub(super) problems: Vec<ToolError>,
    /// Descriptions of the parts of the list and its tools that are not used.
    pub(super) warnings: Vec<String>,
}

impl Findings {
    /// Writes the findings to the log.
    pub(super) fn log(&self, server: &str) {
        for problem in &self.problems {
            tracing::warn!(server, %problem, "a tool of an MCP server is not registered");
        }
        for warning in &self.warnings {
            tracing::warn!(server, warning, "a part of what an MCP server lists is not used");
        }
    }
}

impl Refresh {
    pub(super) fn new(client: &McpClient, registry: &ToolRegistry, options: ToolsetOptions) -> Self {
        let server_tag = format!("mcp:{}", client.name());
        let number = NEXT_TAG.fetch_add(1, Ordering::Relaxed);
        Self {
            client: Arc::downgrade(&client.0),
            registry: registry.clone(),
            options: Arc::new(options),
            tag: format!("{server_tag}#{number}"),
            server_tag,
            turn: Arc::default(),
        }
    }

    /// Lists the tools of the server, and replaces what changed.
    pub(super) async fn run(&self) -> Result<Findings, McpError> {
        let _turn = self.turn.lock().await;
        let Some(client) = self.client.upgrade().map(McpClient) else {
            return Err(McpError::new(McpErrorKind::Closed, "the client was dropped"));
        };
        let list = client.read_tools().await?;
        let (tools, mut warnings) = adapter::adapt(&client, list.entries, &self.options);
        warnings.extend(list.warning);
        let left_out = list.problems.into_iter();
        let mut problems: Vec<_> = left_out
            .map(|problem| ToolError::new(ToolErrorKind::Config, problem))
            .collect();
        problems.extend(self.apply(tools));
        Ok(Findings { problems, warnings })
    }

    fn apply(&self, tools: Vec<adapter::McpTool>) -> Vec<ToolError> {
        let prefix = &self.options.prefix;
        let result = self.registry.change(|change| {
            let mut old: HashMap<String, agcore_tools::RegisteredTool> = HashMap::new();
            change.retain(|tool| {
                if tool.has_tag(&self.tag) {
                    old.insert(tool.name().to_string(), tool.clone());
                }
                true
            });
            let mut problems = Vec::new();
            for tool in tools {
                let name = format!("{prefix}{}", tool.name());
                match old.remove(&name) {
                    // It keeps its statistics.
                    Some(known) if definition(known.tool()) == definition(&tool) => continue,
                    Some(_) => {
                        change.remove(&name);
                    }
                    None => {}
                }
                let registration = Registration::new(tool)
                    // The schemas are those of foreign programs, in any draft.
                    .with_full_validation()
                    .with_prefix(prefix)
                    .with_tag(&self.tag)
                    .with_tag(&self.server_tag)
                    .with_category(&self.server_tag);
                problems.extend(change.add(registration).err());
            }
            for name in old.keys() {
                change.remove(name);
            }
            Ok(problems)
        });
        result.unwrap_or_else(|error| vec![error])
    }

    /// Removes all tools of this toolset.
    pub(super) fn remove_all(&self) {
        self.apply(Vec::new());
    }

    /// Updates the registry after each change, until the client is dropped.
    pub(super) async fn follow(self, mut events: ServerEvents) {
        let matters = |event: &ServerEvent| matches!(event, ServerEvent::ToolsChanged | ServerEvent::Reconnected);
        while events.wait_for(matters).await {
            match self.run().await {
                Ok(findings) => findings.log(&self.server_tag),
                Err(error) => tracing::warn!(%error, "the tools of an MCP server are not updated"),
            }
            // A server that reports changes without end must not keep this process busy. Changes in the meantime are
            // covered by one more update.
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Returns the definition of a tool for comparison: what a change of it must replace.
fn definition(tool: &dyn BaseTool) -> impl PartialEq + '_ {
    (
        tool.description(),
        tool.parameters(),
        tool.output_schema(),
        tool.annotations(),
    )
}
