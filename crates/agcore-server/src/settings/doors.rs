//! [`DoorSettings`]: settings of the doors for other protocols than AG-UI.

/// Settings of the APIs of OpenAI, whose clients do not know questions.
///
/// ```
/// use agcore_server::{DoorApprovals, DoorSettings};
///
/// assert_eq!(DoorSettings::new().approvals, DoorApprovals::Refuse);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct DoorSettings {
    /// The treatment of calls that need the approval of a person.
    pub approvals: DoorApprovals,
    /// Whether clients see calls of the agent's own tools, as reasoning.
    pub shows_work: bool,
}

/// The treatment of questions of a run whose client cannot answer them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DoorApprovals {
    /// Answers them with a refusal that explains this to the model, so that the run continues.
    #[default]
    Refuse,
    /// Lets the request wait until somebody answers in another way, such as the inbox of `agcore approvals`.
    Wait,
}

impl DoorSettings {
    /// Creates the default settings: approvals are refused, and the work is not shown.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what happens to calls that need the approval of a person.
    pub fn with_approvals(mut self, approvals: DoorApprovals) -> Self {
        self.approvals = approvals;
        self
    }

    /// Sets whether clients see calls of the agent's own tools.
    pub fn with_work(mut self, shown: bool) -> Self {
        self.shows_work = shown;
        self
    }
}
