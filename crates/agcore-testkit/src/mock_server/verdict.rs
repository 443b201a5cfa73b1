//! What did not go as a behaviour planned.

/// Why a test with this server should fail, although its client may be content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// Replies of the script were not asked for.
    #[error("{count} replies of the script were not asked for")]
    Unused {
        /// How many.
        count: usize,
    },
    /// Requests came after the last reply of the script.
    #[error("{count} requests came after the script's last reply")]
    Overrun {
        /// How many.
        count: usize,
    },
    /// The behaviour panicked.
    #[error("the behaviour panicked {count} times, the first time with: {message}")]
    Panicked {
        /// How often.
        count: usize,
        /// What it said first.
        message: String,
    },
}
