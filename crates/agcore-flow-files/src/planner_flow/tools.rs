//! [`Tools`]: the tools of a planner flow.

use std::{fmt, sync::Arc};

use agcore_chat::{SchemaCheck, SchemaViolation};
use agcore_tools::SchemaValidator;
use serde_json::{Value, json};

use super::state_tool::StateTool;

/// The tools of a planner flow, in the order in which they were added.
#[derive(Clone, Default)]
pub(super) struct Tools(Vec<Arc<dyn StateTool>>);

impl Tools {
    pub(super) fn push(&mut self, tool: Arc<dyn StateTool>) {
        self.0.push(tool);
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<dyn StateTool>> {
        self.0.iter()
    }

    /// Returns the tools that the planner can call.
    pub(super) fn calls(&self) -> impl Iterator<Item = &dyn StateTool> {
        self.0.iter().filter(|tool| tool.kind().is_call()).map(|tool| &**tool)
    }

    /// Returns the tools that can make a part of the output.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &dyn StateTool> {
        self.0.iter().filter(|tool| tool.kind().is_output()).map(|tool| &**tool)
    }

    /// Returns names, descriptions and parameters, for templates.
    pub(super) fn described(&self) -> Value {
        let describe = |tool: &Arc<dyn StateTool>| {
            json!({
                "name": tool.name(),
                "description": tool.description(),
                "parameters": tool.parameters(),
                "is_call": tool.kind().is_call(),
                "is_output": tool.kind().is_output(),
            })
        };
        self.0.iter().map(describe).collect()
    }
}

/// Checks the arguments of a call.
pub(super) fn check_arguments(tool: &dyn StateTool, arguments: &Value) -> Vec<SchemaViolation> {
    let validator = SchemaValidator::new();
    let checked = tool.parameters().map(|schema| validator.check(schema, arguments));
    checked.and_then(Result::err).unwrap_or_default()
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|tool| tool.name())).finish()
    }
}
