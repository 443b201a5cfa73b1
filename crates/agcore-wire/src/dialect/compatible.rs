//! Servers that are not listed: gateways, routers and local servers.

use std::borrow::Cow;

use super::rules::{ContentRule, Dialect, ReasoningField, ReasoningRule, ToolMediaRule, base};

/// Returns the dialect of most compatible servers: `max_tokens`, the role `system`, text as strings, all parameters
/// accepted.
///
/// What such a server sent is returned to it: reasoning under the name under which it
/// arrived, `reasoning_details`, and the `thinking_blocks` of gateways. Images in tool results stay where they are.
///
/// ```
/// use agcore_wire::dialect::{self, Parameters};
///
/// let dialect = dialect::compatible("my-gateway");
/// assert_eq!(dialect.name, "my-gateway");
/// assert_eq!(dialect.parameters, Parameters::All);
/// ```
pub fn compatible(name: impl Into<Cow<'static, str>>) -> Dialect {
    let base = base(name);
    Dialect {
        content: ContentRule {
            tool_media: ToolMediaRule::InPlace,
            assistant_members: &["reasoning_details", "thinking_blocks"],
            ..base.content
        },
        reasoning: ReasoningRule {
            field: ReasoningField::AsReceived,
            ..base.reasoning
        },
        ..base
    }
}
