//! [`ToolsetOptions`]: how the tools of a server appear in a registry.

use std::{fmt, sync::Arc, time::Duration};

use agcore_tools::Permission;

use crate::client::RemoteTool;

/// Changes a tool before it is registered; `false` leaves it out.
type Filter = dyn Fn(&mut RemoteTool) -> bool + Send + Sync;

/// The form in which the tools of a server appear in a registry.
///
/// ```
/// use agcore_mcp::ToolsetOptions;
///
/// // Only tools that read, without what the server wants to tell the model.
/// let options = ToolsetOptions::new().with_prefix("wiki_").with_filter(|tool| {
///     tool.description = format!("The tool {} of the wiki.", tool.name);
///     tool.annotations.read_only == Some(true)
/// });
/// # let _ = options;
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct ToolsetOptions {
    pub(super) prefix: String,
    pub(super) permissions: Option<Vec<Permission>>,
    pub(super) timeout: Option<Duration>,
    pub(super) filter: Option<Arc<Filter>>,
}

impl ToolsetOptions {
    /// Creates options without a prefix and a filter.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the prefix of all names. It is used verbatim: `fs_` turns `read` into `fs_read`.
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the permissions that each tool needs, instead of `mcp:` with the name of the server.
    ///
    /// Without any, the tools are allowed like local tools that declare no permission.
    pub fn with_permissions(mut self, permissions: impl IntoIterator<Item = Permission>) -> Self {
        self.permissions = Some(permissions.into_iter().collect());
        self
    }

    /// Sets how long each call may take without progress, instead of
    /// [`ClientOptions::call_timeout`](crate::ClientOptions).
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets a function that can change or leave out tools, also when the server changes its list.
    ///
    /// Descriptions are written by the server and read by the model; this is the place to check them.
    pub fn with_filter(mut self, filter: impl Fn(&mut RemoteTool) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Arc::new(filter));
        self
    }
}

impl fmt::Debug for ToolsetOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolsetOptions")
            .field("prefix", &self.prefix)
            .field("permissions", &self.permissions)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
