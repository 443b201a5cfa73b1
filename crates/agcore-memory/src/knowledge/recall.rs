//! [`RecallStatistics`]: how often searches return a page.

use serde::{Deserialize, Serialize};

use agcore_chat::Timestamp;

/// The number of searches that have returned a page, and how well it matched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecallStatistics {
    /// The id of the page.
    pub id: String,
    /// The number of recalls.
    pub recalls: u64,
    /// The mean of the scores, from 0 to 1.
    pub mean_score: f64,
    /// The time of the last recall.
    pub recalled_at: Timestamp,
}

impl RecallStatistics {
    /// Creates statistics from the number of recalls and the sum of their scores.
    pub fn new(id: impl Into<String>, recalls: u64, score_sum: f64, recalled_at: Timestamp) -> Self {
        Self {
            id: id.into(),
            recalls,
            mean_score: if recalls == 0 { 0.0 } else { score_sum / recalls as f64 },
            recalled_at,
        }
    }
}
