//! [`Fusion`]: one score from the scores of several channels.

use serde::Serialize;

/// A way to find pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Channel {
    /// The words of the page, by an index of texts.
    Text,
    /// The characters of the page, compared with those of the query.
    Overlap,
    /// The meaning of the page, by embeddings.
    Vector,
    /// The subjects of the page, by a graph of entities.
    Graph,
    /// The turns of a conversation, by their words and those of their neighbors.
    Turns,
}

/// The place of a page in the results of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChannelScore {
    /// The channel.
    pub channel: Channel,
    /// The place, from 1.
    pub rank: usize,
    /// The score that the channel gave, on its own scale: for texts, the value of BM25.
    pub score: f64,
}

/// The parts of the score of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScoreBreakdown {
    /// The channels that found the page.
    pub channels: Vec<ChannelScore>,
    /// The recency of the last change, from 0 to 1: e^(−age / 7 days).
    pub recency: f64,
    /// The share of references: the number of pages that refer to this one, compared with the page of the results that has most,
    /// from 0 to 1.
    pub references: f64,
}

impl ScoreBreakdown {
    /// Returns the place of the page in the results of a channel, if it is there.
    pub fn channel(&self, channel: Channel) -> Option<&ChannelScore> {
        self.channels.iter().find(|score| score.channel == channel)
    }
}

/// Combines the scores of channels.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Fusion {
    /// Adds `weight / (k + rank)` for each channel that found the page. Scores of channels need not be comparable.
    #[non_exhaustive]
    ReciprocalRank {
        /// The higher, the less the first places count more than others: 60.
        k: f64,
        /// The weight of the vector channel, .5. Text, overlap and turns have the weight 1.
        vector: f64,
        /// The weight of the graph, .5.
        graph: f64,
    },
    /// Adds weighted values from 0 to 1.
    #[non_exhaustive]
    Weights {
        /// The weight of the best of text, overlap, vector and turns, each in relation to the best page of its channel: .5.
        relevance: f64,
        /// The weight of the graph: .2.
        graph: f64,
        /// The weight of [`recency`](ScoreBreakdown::recency): .1.
        recency: f64,
        /// The weight of [`references`](ScoreBreakdown::references): .2.
        references: f64,
    },
}

impl Default for Fusion {
    fn default() -> Self {
        Self::reciprocal_rank()
    }
}

impl Fusion {
    /// Adds reciprocal ranks.
    pub const fn reciprocal_rank() -> Self {
        Self::ReciprocalRank {
            k: 60.0,
            vector: 0.5,
            graph: 0.5,
        }
    }

    /// Adds weighted values.
    pub const fn weights() -> Self {
        Self::Weights {
            relevance: 0.5,
            graph: 0.2,
            recency: 0.1,
            references: 0.2,
        }
    }

    /// Returns the score of a page, from 0 to 1. `best` contains the best score of each channel that was used.
    pub(super) fn score(&self, breakdown: &ScoreBreakdown, best: &[(Channel, f64)]) -> f64 {
        match *self {
            Self::ReciprocalRank { k, vector, graph } => {
                let weight = |channel| match channel {
                    Channel::Vector => vector,
                    Channel::Graph => graph,
                    Channel::Text | Channel::Overlap | Channel::Turns => 1.0,
                };
                let most: f64 = best.iter().map(|(channel, _)| weight(*channel) / (k + 1.0)).sum();
                let sum: f64 = breakdown
                    .channels
                    .iter()
                    .map(|score| weight(score.channel) / (k + score.rank as f64))
                    .sum();
                if most > 0.0 { sum / most } else { 0.0 }
            }
            Self::Weights {
                relevance,
                graph,
                recency,
                references,
            } => {
                let scaled = |score: &ChannelScore| {
                    let best = best.iter().find(|(channel, _)| *channel == score.channel);
                    scaled(score.score, best.map_or(0.0, |best| best.1))
                };
                let others = breakdown
                    .channels
                    .iter()
                    .filter(|score| score.channel != Channel::Graph);
                let relevant = others.map(scaled).fold(0.0, f64::max);
                let related = breakdown.channel(Channel::Graph).map_or(0.0, scaled);
                relevance * relevant + graph * related + recency * breakdown.recency + references * breakdown.references
            }
        }
    }
}

/// Returns a score in relation to the best one, from 0 to 1.
pub(super) fn scaled(score: f64, best: f64) -> f64 {
    if best > 0.0 {
        (score / best).clamp(0.0, 1.0)
    } else {
        0.0
    }
}
