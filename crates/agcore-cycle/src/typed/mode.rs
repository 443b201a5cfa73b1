//! [`OutputMode`]: how a model is asked for typed output.

use serde::{Deserialize, Serialize};

use agcore_llm::Capabilities;

/// How a model is asked for typed output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputMode {
    /// By the vendor's own form of the answer, `json_schema`.
    Native,
    /// By a tool whose arguments are the value.
    Tool,
    /// By the schema in the instructions; the value is looked for in the answer's text.
    Prompt,
}

impl OutputMode {
    /// The first that a provider can do.
    pub fn of(capabilities: &Capabilities) -> Self {
        if capabilities.json_schema {
            Self::Native
        } else {
            Self::Native.next(capabilities).unwrap_or(Self::Prompt)
        }
    }

    /// What is tried when a provider refuses this one.
    pub fn next(self, capabilities: &Capabilities) -> Option<Self> {
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
    fn what_a_provider_can_do_decides() {
        let can = |json_schema, tools| {
            let mut capabilities = Capabilities::default();
            (capabilities.json_schema, capabilities.tools) = (json_schema, tools);
            capabilities
        };
        for (json_schema, tools, ladder) in [
            (
                true,
                true,
                vec![OutputMode::Native, OutputMode::Tool, OutputMode::Prompt],
            ),
            (true, false, vec![OutputMode::Native, OutputMode::Prompt]),
            (false, true, vec![OutputMode::Tool, OutputMode::Prompt]),
            (false, false, vec![OutputMode::Prompt]),
        ] {
            let capabilities = can(json_schema, tools);
            let steps = std::iter::successors(Some(OutputMode::of(&capabilities)), |mode| mode.next(&capabilities));
            assert_eq!(steps.collect::<Vec<_>>(), ladder);
        }
    }
}
