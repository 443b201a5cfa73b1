//! [`OutputMode`]: the way a model is asked for typed output.

use agcore_llm::Capabilities;
use serde::{Deserialize, Serialize};

/// The way a model is asked for typed output.
///
/// ```
/// use agcore_cycle::OutputMode;
/// use agcore_llm::Capabilities;
///
/// let mut capabilities = Capabilities::default();
/// (capabilities.json_schema, capabilities.tools) = (true, false);
///
/// let mode = OutputMode::from_capabilities(&capabilities, false);
/// assert_eq!(mode, OutputMode::Native);
/// // If the vendor refuses the schema:
/// assert_eq!(mode.fallback(&capabilities), Some(OutputMode::Prompt));
/// assert_eq!(OutputMode::Prompt.fallback(&capabilities), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputMode {
    /// With the vendor's response format, `json_schema`.
    Native,
    /// With a tool whose arguments are the value.
    Tool,
    /// With the schema in the instructions. The value is searched for in the text of the answer.
    Prompt,
}

impl OutputMode {
    /// Returns the preferred mode of a provider with these capabilities. `with_tools` states whether the model may also
    /// call tools: on some servers, a model never calls a tool if a response format is set, and others refuse the
    /// request.
    pub fn from_capabilities(capabilities: &Capabilities, with_tools: bool) -> Self {
        if capabilities.json_schema && (capabilities.json_schema_with_tools || !with_tools) {
            Self::Native
        } else {
            Self::Native.fallback(capabilities).unwrap_or(Self::Prompt)
        }
    }

    /// Returns the mode to try if the provider refuses this one.
    pub fn fallback(self, capabilities: &Capabilities) -> Option<Self> {
        match self {
            Self::Native if capabilities.tools => Some(Self::Tool),
            Self::Native | Self::Tool => Some(Self::Prompt),
            Self::Prompt => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_determine_the_modes() {
        let with_capabilities = |json_schema, tools| {
            let mut capabilities = Capabilities::default();
            (capabilities.json_schema, capabilities.tools) = (json_schema, tools);
            capabilities
        };
        for (json_schema, tools, expected) in [
            (
                true,
                true,
                vec![OutputMode::Native, OutputMode::Tool, OutputMode::Prompt],
            ),
            (true, false, vec![OutputMode::Native, OutputMode::Prompt]),
            (false, true, vec![OutputMode::Tool, OutputMode::Prompt]),
            (false, false, vec![OutputMode::Prompt]),
        ] {
            let capabilities = with_capabilities(json_schema, tools);
            let modes = std::iter::successors(Some(OutputMode::from_capabilities(&capabilities, true)), |mode| {
                mode.fallback(&capabilities)
            });
            assert_eq!(modes.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_schema_that_excludes_tools_is_used_without_tools_only() {
        let mut capabilities = Capabilities::default();
        capabilities.json_schema_with_tools = false;
        let mode = |with_tools| OutputMode::from_capabilities(&capabilities, with_tools);
        assert_eq!((mode(false), mode(true)), (OutputMode::Native, OutputMode::Tool));
    }
}
