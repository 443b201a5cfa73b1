//! The tool by which an agent hands the conversation over to another one.

use agcore_chat::{ToolAnnotations, tool_name};
use agcore_tools::{Arguments, BaseTool, Registration, ToolContext, ToolError, ToolOutput};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::{
    agent::{Agent, CATEGORY, handoff_tag},
    turn::{HandoffState, TurnScope},
};

struct HandoffTool {
    name: String,
    description: String,
    parameters: Value,
    /// The name of the agent that takes over.
    to: String,
}

/// Returns the tool that hands the conversation over to an agent.
pub(crate) fn handoff_tool(agent: &dyn Agent) -> Registration {
    let to = agent.name().to_owned();
    let about = match agent.description() {
        "" => String::new(),
        description => format!(" It is responsible for: {description}"),
    };
    let tool = HandoffTool {
        name: tool_name::portable(&format!("transfer_to_{to}")).into_owned(),
        description: format!("Hands the conversation over to the agent `{to}`, which then answers the user.{about}"),
        parameters: json!({
            "type": "object",
            "properties": {
                "reason": {"type": "string", "description": "Why it takes over, and what it has to know."},
            },
            "additionalProperties": false,
        }),
        to,
    };
    let tag = handoff_tag(&tool.to);
    Registration::new(tool).with_category(CATEGORY).with_tag(tag)
}

#[async_trait]
impl BaseTool for HandoffTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations::new().with_idempotent(true)
    }

    async fn execute(&self, _: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let scope = context.extension::<TurnScope>();
        let scope = scope.ok_or_else(|| ToolError::failed("a conversation can only be handed over in a turn"))?;
        HandoffState::request(context.run_state(), &scope.agent, &self.to, context.call_id())
            .map_err(ToolError::failed)?;
        scope.pause.request();
        Ok(ToolOutput::text(format!("Handed over to `{}`.", self.to)))
    }
}
