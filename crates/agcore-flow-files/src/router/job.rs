//! [`Job`]: the configuration of a run without a user.

use serde::{Deserialize, Serialize};

/// The configuration of a run without a user, such as one that a schedule starts.
///
/// ```
/// use agcore_flow_files::Job;
///
/// let job: Job = serde_json::from_str(r#"{"enabled_skills": ["reports"], "context": 0}"#)?;
/// assert_eq!(job, Job::new(["reports"]).with_context(0));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Job {
    /// The names of the skills that may be used.
    pub enabled_skills: Vec<String>,
    /// How many messages of the conversation the router sees; `None` is all of them.
    pub context: Option<u32>,
}

impl Job {
    /// Creates a job with skills that sees the whole conversation.
    pub fn new<T: Into<String>>(enabled_skills: impl IntoIterator<Item = T>) -> Self {
        Self {
            enabled_skills: enabled_skills.into_iter().map(Into::into).collect(),
            context: None,
        }
    }

    /// Sets how many messages of the conversation the router sees.
    #[must_use]
    pub fn with_context(mut self, messages: u32) -> Self {
        self.context = Some(messages);
        self
    }
}
