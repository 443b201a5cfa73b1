//! [`TeamLimits`]: limits of agents that ask other agents.

use agcore_cycle::Budget;

/// Limits of agents that ask other agents, as part of the [settings](crate::AgentConfig::team).
///
/// ```
/// use agcore_agent::{AgentConfig, TeamLimits};
/// use agcore_cycle::Budget;
///
/// let limits = TeamLimits::new().with_max_depth(1).with_budget(Budget::new().with_tokens(100_000));
/// assert_eq!(AgentConfig::new().with_team(limits).team.max_depth, 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TeamLimits {
    /// How deep sub-agents may be nested, 3 by default: with 1, sub-agents cannot ask others. A call beyond it returns an error
    /// to the model.
    pub max_depth: u32,
    /// The budget that all sub-agents of one turn share, also those of sub-agents; `None` means no limit. What they have
    /// spent before a turn was suspended or interrupted counts when it continues, also in another process.
    pub budget: Option<Budget>,
}

impl Default for TeamLimits {
    fn default() -> Self {
        Self {
            max_depth: 3,
            budget: None,
        }
    }
}

impl TeamLimits {
    /// Creates the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how deep sub-agents may be nested.
    #[must_use]
    pub fn with_max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }

    /// Sets what all sub-agents of one turn may spend together.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }
}
