//! [`RecordedAnswers`]: what was found out about the answers of a typed turn, for its replay.

use agcore_chat::SchemaViolation;

use super::mode::OutputMode;

/// The recorded verdicts on the answers of a typed turn, for its [replay](crate::Output::recorded).
pub trait RecordedAnswers: Send + Sync {
    /// Returns whether the next answer fits its type.
    ///
    /// # Errors
    /// The places at which it does not.
    fn verdict(&self) -> Result<(), Vec<SchemaViolation>>;

    /// Returns how the model was asked after the provider had refused the last request; `None` if it failed for another reason.
    fn recast(&self) -> Option<OutputMode>;
}
