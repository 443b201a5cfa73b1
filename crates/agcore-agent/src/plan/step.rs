//! [`Step`]: one item of a plan.

use serde::{Deserialize, Serialize};

use super::{error::PlanError, status::StepStatus};

/// One item of a [`Plan`](crate::Plan). Its status changes by the methods of the plan only.
///
/// ```
/// use agcore_agent::Step;
///
/// let step = Step::new(1, "Compare the prices.")
///     .with_dependencies([0])
///     .with_success_criteria("A table with the three cheapest offers.");
/// assert_eq!(step.depends_on, [0]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// The position in the plan, from 0.
    pub index: usize,
    /// The work to do.
    pub description: String,
    /// The steps that must be completed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<usize>,
    /// Names of tools that may help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How to recognize that the step is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_criteria: Option<String>,
    #[serde(default)]
    status: StepStatus,
    /// The result, or the reason why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
}

impl Step {
    /// Creates a step that has not started.
    pub fn new(index: usize, description: impl Into<String>) -> Self {
        Self {
            index,
            description: description.into(),
            depends_on: Vec::new(),
            tools: Vec::new(),
            success_criteria: None,
            status: StepStatus::Pending,
            outcome: None,
        }
    }

    /// Sets the steps that must be completed before.
    #[must_use]
    pub fn with_dependencies(mut self, steps: impl IntoIterator<Item = usize>) -> Self {
        self.depends_on = steps.into_iter().collect();
        self
    }

    /// Sets the names of tools that may help.
    #[must_use]
    pub fn with_tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.tools = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how to recognize that the step is done.
    #[must_use]
    pub fn with_success_criteria(mut self, criteria: impl Into<String>) -> Self {
        self.success_criteria = Some(criteria.into());
        self
    }

    /// Returns how far the step is.
    pub fn status(&self) -> StepStatus {
        self.status
    }

    /// Returns the result of a completed step.
    pub fn result(&self) -> Option<&str> {
        self.outcome.as_deref().filter(|_| self.status == StepStatus::Completed)
    }

    /// Returns why the step failed or was skipped.
    pub fn reason(&self) -> Option<&str> {
        let has_none = matches!(self.status, StepStatus::Failed | StepStatus::Skipped);
        self.outcome.as_deref().filter(|_| has_none)
    }

    pub(super) fn set(&mut self, status: StepStatus, outcome: Option<String>) -> Result<(), PlanError> {
        if !self.status.can_become(status) {
            return Err(PlanError::Transition {
                step: self.index,
                from: self.status,
                to: status,
            });
        }
        (self.status, self.outcome) = (status, outcome);
        Ok(())
    }
}
