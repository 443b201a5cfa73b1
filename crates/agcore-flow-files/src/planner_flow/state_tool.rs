//! [`StateTool`]: a tool of a planner loop.

use agcore_flow::{NodeContext, NodeError};
use async_trait::async_trait;
use serde_json::Value;

use crate::planner::{ActionRecord, RuntimeState};

/// When a [`StateTool`] is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StateToolKind {
    /// The planner calls it.
    #[default]
    Call,
    /// It makes a part of the output after the loop.
    Output,
    /// Both.
    Both,
}

impl StateToolKind {
    /// Returns whether the planner can call the tool.
    pub const fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::Both)
    }

    /// Returns whether the tool can make a part of the output.
    pub const fn is_output(self) -> bool {
        matches!(self, Self::Output | Self::Both)
    }
}

/// A tool of a planner loop, which is a node of the flow. All its input is in the state: the planner leaves the arguments of its
/// calls in [`RuntimeState::prepared_calls`]. [`CallTool`](crate::CallTool) makes one of any [`BaseTool`](agcore_tools::BaseTool).
///
/// ```
/// use agcore_flow::{NodeContext, NodeError};
/// use agcore_flow_files::{ActionRecord, RuntimeState, StateTool};
/// use async_trait::async_trait;
///
/// /// Counts the tables that were found in the files of the user.
/// struct CountTables;
///
/// #[async_trait]
/// impl StateTool for CountTables {
///     fn name(&self) -> &str {
///         "count_tables"
///     }
///
///     fn description(&self) -> &str {
///         "Counts the tables in the files of the user."
///     }
///
///     async fn run(&self, state: &mut RuntimeState, _: &NodeContext) -> Result<ActionRecord, NodeError> {
///         let tables = state.preprocessed_files.tables.len();
///         Ok(ActionRecord::new(self.name()).with_summary("counted the tables").with_result(tables))
///     }
/// }
/// ```
#[async_trait]
pub trait StateTool: Send + Sync {
    /// Returns the name, which is that of its node.
    fn name(&self) -> &str;

    /// Describes, for the planner, what the tool does and when to use it.
    fn description(&self) -> &str;

    /// Returns when the tool is used.
    fn kind(&self) -> StateToolKind {
        StateToolKind::Call
    }

    /// Returns the JSON Schema of the arguments that the planner prepares; `None` if there are none.
    fn parameters(&self) -> Option<&Value> {
        None
    }

    /// Does the work, and returns its record. The flow sets what comes next. A change of the state is kept if the tool succeeds.
    ///
    /// The context is that of the node: use [`NodeContext::once`] for calls that must not be repeated, and its token for
    /// cancellation. The future is dropped when the run is cancelled.
    ///
    /// # Errors
    /// What ends the run. Something that went wrong and that the planner can react to belongs into the record.
    async fn run(&self, state: &mut RuntimeState, context: &NodeContext) -> Result<ActionRecord, NodeError>;
}
