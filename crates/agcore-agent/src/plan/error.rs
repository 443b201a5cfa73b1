//! [`PlanError`]: why a plan cannot be used.

use thiserror::Error;

use super::status::StepStatus;

/// The reason why a plan cannot be used, or why a step cannot change.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan has no steps.
    #[error("the plan has no steps; a plan needs at least one")]
    Empty,
    /// The plan has too many steps.
    #[error("the plan has {steps} steps, more than the limit of {limit}; combine some of them")]
    TooLong {
        /// The number of steps.
        steps: usize,
        /// The largest number of steps.
        limit: usize,
    },
    /// The steps are not numbered in order, from 0.
    #[error("the step at position {position} has the index {index}; steps are numbered in order, from 0")]
    Index {
        /// The position of the step.
        position: usize,
        /// The index of the step.
        index: usize,
    },
    /// A step depends on a step that does not exist.
    #[error("step {step} depends on step {dependency}, which does not exist")]
    UnknownDependency {
        /// The index of the step.
        step: usize,
        /// The index of the step that does not exist.
        dependency: usize,
    },
    /// Steps depend on each other in a circle.
    #[error("steps depend on each other in a circle: {}", list(.steps))]
    Cycle {
        /// The indices of the steps in the circle.
        steps: Vec<usize>,
    },
    /// A step cannot change its status in this way.
    #[error("step {step} is {from}, so it cannot become {to}")]
    Transition {
        /// The index of the step.
        step: usize,
        /// Its status.
        from: StepStatus,
        /// The status that it cannot have.
        to: StepStatus,
    },
    /// There is no such step.
    #[error("the plan has no step {0}")]
    NoStep(usize),
    /// The text contains no plan, or one with mistakes.
    #[error("the text contains no usable plan: {}", .problems.join("; "))]
    Unreadable {
        /// The mistakes: missing and invalid parts.
        problems: Vec<String>,
    },
}

impl PlanError {
    /// Creates the error of a text with these mistakes.
    pub fn unreadable<T: Into<String>>(problems: impl IntoIterator<Item = T>) -> Self {
        Self::Unreadable {
            problems: problems.into_iter().map(Into::into).collect(),
        }
    }
}

fn list(steps: &[usize]) -> String {
    let steps: Vec<_> = steps.iter().map(usize::to_string).collect();
    steps.join(" → ")
}
