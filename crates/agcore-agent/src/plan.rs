//! [`Plan`]: a goal broken down into steps.

mod error;
mod status;
mod step;

use serde::{Deserialize, Serialize};

pub use self::{error::PlanError, status::StepStatus, step::Step};

/// A goal broken down into steps that depend on each other.
///
/// Serialize it to keep it; reading checks it again.
///
/// ```
/// use agcore_agent::{Plan, PlanError, Step, StepStatus};
///
/// let steps = vec![
///     Step::new(0, "Find three flights."),
///     Step::new(1, "Find a hotel."),
///     Step::new(2, "Compare the prices.").with_dependencies([0, 1]),
/// ];
/// let mut plan = Plan::new("p-1", "Plan a trip to Rome.", steps)?;
/// assert_eq!(plan.ready().collect::<Vec<_>>(), [0, 1]);
///
/// plan.start(0)?;
/// plan.complete(0, "AZ 610 for 120 EUR.")?;
/// plan.start(1)?;
/// plan.fail(1, "all hotels are booked")?;
/// // What depends on a failed step is skipped.
/// assert_eq!(plan.steps()[2].status(), StepStatus::Skipped);
/// assert_eq!(plan.steps()[2].reason(), Some("step 1 failed: all hotels are booked"));
/// assert!(plan.is_finished() && !plan.is_completed());
///
/// // Nothing goes back.
/// assert!(plan.start(0).is_err());
/// # Ok::<(), PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PlanData")]
pub struct Plan {
    id: String,
    goal: String,
    steps: Vec<Step>,
}

/// The JSON form of a plan, before it is checked.
#[derive(Deserialize)]
struct PlanData {
    id: String,
    goal: String,
    steps: Vec<Step>,
}

impl TryFrom<PlanData> for Plan {
    type Error = PlanError;

    fn try_from(data: PlanData) -> Result<Self, PlanError> {
        Self::new(data.id, data.goal, data.steps)
    }
}

impl Plan {
    /// Creates a plan.
    ///
    /// # Errors
    /// If there are no steps, if they are not numbered in order, or if they depend on unknown steps or on each other in a circle.
    pub fn new(id: impl Into<String>, goal: impl Into<String>, steps: Vec<Step>) -> Result<Self, PlanError> {
        if steps.is_empty() {
            return Err(PlanError::Empty);
        }
        for (position, step) in steps.iter().enumerate() {
            let index = step.index;
            if index != position {
                return Err(PlanError::Index { position, index });
            }
            if let Some(dependency) = step.depends_on.iter().find(|dependency| **dependency >= steps.len()) {
                return Err(PlanError::UnknownDependency {
                    step: position,
                    dependency: *dependency,
                });
            }
        }
        if let Some(steps) = cycle(&steps) {
            return Err(PlanError::Cycle { steps });
        }
        Ok(Self {
            id: id.into(),
            goal: goal.into(),
            steps,
        })
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the goal.
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// Returns the steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the steps that can start: those that have not started, and whose dependencies are completed.
    pub fn ready(&self) -> impl Iterator<Item = usize> {
        let is_done = |index: &usize| self.steps[*index].status() == StepStatus::Completed;
        let ready = self
            .steps
            .iter()
            .filter(move |step| step.status() == StepStatus::Pending && step.depends_on.iter().all(is_done));
        ready.map(|step| step.index)
    }

    /// Returns whether all steps have ended.
    pub fn is_finished(&self) -> bool {
        self.steps.iter().all(|step| step.status().is_final())
    }

    /// Returns whether all steps were completed.
    pub fn is_completed(&self) -> bool {
        self.steps.iter().all(|step| step.status() == StepStatus::Completed)
    }

    /// Notes that a step starts.
    ///
    /// # Errors
    /// If there is no such step, or if it cannot start.
    pub fn start(&mut self, index: usize) -> Result<(), PlanError> {
        self.step(index)?.set(StepStatus::Running, None)
    }

    /// Notes that a step was completed, with this result.
    ///
    /// # Errors
    /// If there is no such step, or if it is not running.
    pub fn complete(&mut self, index: usize, result: impl Into<String>) -> Result<(), PlanError> {
        self.step(index)?.set(StepStatus::Completed, Some(result.into()))
    }

    /// Notes that a step failed. The steps that depend on it are skipped; their indices are returned.
    ///
    /// # Errors
    /// If there is no such step, or if it is not running.
    pub fn fail(&mut self, index: usize, reason: impl Into<String>) -> Result<Vec<usize>, PlanError> {
        let reason = reason.into();
        self.step(index)?.set(StepStatus::Failed, Some(reason.clone()))?;
        Ok(self.skip_dependants(index, &format!("step {index} failed: {reason}")))
    }

    /// Skips a step, and the steps that depend on it. Returns the indices of the latter.
    ///
    /// # Errors
    /// If there is no such step, or if it has started.
    pub fn skip(&mut self, index: usize, reason: impl Into<String>) -> Result<Vec<usize>, PlanError> {
        let reason = reason.into();
        self.step(index)?.set(StepStatus::Skipped, Some(reason.clone()))?;
        Ok(self.skip_dependants(index, &reason))
    }

    fn step(&mut self, index: usize) -> Result<&mut Step, PlanError> {
        self.steps.get_mut(index).ok_or(PlanError::NoStep(index))
    }

    fn skip_dependants(&mut self, index: usize, reason: &str) -> Vec<usize> {
        let mut skipped = Vec::new();
        let mut causes = vec![index];
        while let Some(cause) = causes.pop() {
            for step in &mut self.steps {
                let is_due = step.status() == StepStatus::Pending && step.depends_on.contains(&cause);
                if is_due && step.set(StepStatus::Skipped, Some(reason.to_owned())).is_ok() {
                    skipped.push(step.index);
                    causes.push(step.index);
                }
            }
        }
        skipped.sort_unstable();
        skipped
    }
}

/// Returns the steps of a circle, if there is one. Does not recurse: a plan may be long.
fn cycle(steps: &[Step]) -> Option<Vec<usize>> {
    let mut open: Vec<usize> = steps.iter().map(|step| step.depends_on.len()).collect();
    let mut dependants = vec![Vec::new(); steps.len()];
    for step in steps {
        for dependency in &step.depends_on {
            dependants[*dependency].push(step.index);
        }
    }
    let mut free: Vec<usize> = (0..steps.len()).filter(|index| open[*index] == 0).collect();
    while let Some(index) = free.pop() {
        for dependant in &dependants[index] {
            open[*dependant] -= 1;
            if open[*dependant] == 0 {
                free.push(*dependant);
            }
        }
    }
    // Each step that is left depends on one that is left, so that following them ends in a circle.
    let mut at = open.iter().position(|left| *left > 0)?;
    let mut path = Vec::new();
    while !path.contains(&at) {
        path.push(at);
        at = *steps[at].depends_on.iter().find(|index| open[**index] > 0)?;
    }
    let start = path.iter().position(|index| *index == at)?;
    path.drain(..start);
    path.push(at);
    Some(path)
}
