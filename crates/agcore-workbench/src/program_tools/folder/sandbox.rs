//! The sandbox of commands in a folder.

use std::sync::Arc;

use agcore_sandbox::Policy;

use super::ToolFolder;
use crate::shell_command::CommandSandbox;

impl ToolFolder {
    /// Confines commands. They are refused on a system that cannot confine them. Must be called before the folder is cloned.
    ///
    /// ```
    /// use agcore_sandbox::{Mode, Policy};
    /// use agcore_workbench::program_tools::ToolFolder;
    ///
    /// let path = std::env::temp_dir();
    /// let policy = Policy::new(Mode::Workspace).with_write(&path);
    /// let folder = ToolFolder::at(&path, Vec::new())?.with_sandbox(policy);
    /// # let _ = folder;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn with_sandbox(self, policy: Policy) -> Self {
        self.with_command_sandbox(CommandSandbox::new(policy, true))
    }

    pub(in crate::program_tools) fn with_command_sandbox(mut self, sandbox: CommandSandbox) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.sandbox = sandbox;
        }
        self
    }

    /// Returns the sandbox of commands.
    pub(crate) fn sandbox(&self) -> &CommandSandbox {
        &self.0.sandbox
    }
}
