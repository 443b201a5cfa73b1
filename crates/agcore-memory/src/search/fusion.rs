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
    /// Adds the scores of the channels, each in relation to the results of its channel, from 0 to 1.
    ///
    /// This keeps how much better a page is than the next one, which ranks forget.
    #[non_exhaustive]
    RelativeScore {
        /// The weight of the vector channel, .5. Text, overlap and turns have the weight 1.
        vector: f64,
        /// The weight of the graph, .5.
        graph: f64,
    },
    /// Adds `weight / (k + rank)` for each channel that found the page. Scores of channels need not be comparable.
    #[non_exhaustive]
    ReciprocalRank {
        /// The higher, the less the first places count more than others: 10.
        k: f64,
        /// The weight of the vector channel, .3. Text, overlap and turns have the weight 1.
        vector: f64,
        /// The weight of the graph, .5.
        graph: f64,
    },
    /// Adds weighted values from 0 to 1.
    #[non_exhaustive]
    Weights {
        /// The weight of text, overlap, vector and turns together, as [`RelativeScore`](Self::RelativeScore) adds them: .5.
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
        Self::relative_score()
    }
}

/// The weight of vectors beside texts. With it, and with the values of [`Fusion::reciprocal_rank`], no collection of the
/// benchmarks is searched worse with vectors than without, not even one whose vectors alone are far behind.
const VECTOR: f64 = 0.5;

impl Fusion {
    /// Adds relative scores.
    pub const fn relative_score() -> Self {
        Self::RelativeScore {
            vector: VECTOR,
            graph: 0.5,
        }
    }

    /// Adds reciprocal ranks.
    pub const fn reciprocal_rank() -> Self {
        Self::ReciprocalRank {
            k: 10.0,
            vector: 0.3,
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

    /// Returns the score of a page, from 0 to 1. `spans` has an entry for each channel that was used.
    pub(super) fn score(&self, breakdown: &ScoreBreakdown, spans: &[Span]) -> f64 {
        match *self {
            Self::RelativeScore { vector, graph } => {
                relative(breakdown, spans, |channel| weight(channel, vector, graph))
            }
            Self::ReciprocalRank { k, vector, graph } => {
                let reciprocal = |channel, rank: usize| weight(channel, vector, graph) / (k + rank as f64);
                let most = spans.iter().map(|span| reciprocal(span.channel, 1)).sum();
                let found = breakdown.channels.iter();
                scaled(found.map(|score| reciprocal(score.channel, score.rank)).sum(), most)
            }
            Self::Weights {
                relevance,
                graph,
                recency,
                references,
            } => {
                let relevant = relative(breakdown, spans, |channel| weight(channel, VECTOR, 0.0));
                let related = relative(breakdown, spans, |channel| f64::from(channel == Channel::Graph));
                relevance * relevant + graph * related + recency * breakdown.recency + references * breakdown.references
            }
        }
    }
}

fn weight(channel: Channel, vector: f64, graph: f64) -> f64 {
    match channel {
        Channel::Vector => vector,
        Channel::Graph => graph,
        Channel::Text | Channel::Overlap | Channel::Turns => 1.0,
    }
}

/// The scores of the results of a channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) channel: Channel,
    pub(super) best: f64,
    pub(super) worst: f64,
}

impl Span {
    /// Returns a score of the channel from 0 to 1.
    ///
    /// Texts without a common word have the score 0, but no vectors are that different: their scores are compared with the worst
    /// result instead.
    fn relative(&self, score: f64) -> f64 {
        match self.channel {
            Channel::Vector if self.best > self.worst => scaled(score - self.worst, self.best - self.worst),
            Channel::Vector => 1.0,
            _ => scaled(score, self.best),
        }
    }
}

/// Returns the weighted mean of the relative scores of a page in all channels.
fn relative(breakdown: &ScoreBreakdown, spans: &[Span], weight: impl Fn(Channel) -> f64) -> f64 {
    let of = |span: &Span| {
        let found = breakdown.channel(span.channel);
        weight(span.channel) * found.map_or(0.0, |score| span.relative(score.score))
    };
    let most = spans.iter().map(|span| weight(span.channel)).sum();
    scaled(spans.iter().map(of).sum(), most)
}

/// Returns a score in relation to the best one, from 0 to 1.
pub(super) fn scaled(score: f64, best: f64) -> f64 {
    if best > 0.0 {
        (score / best).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Span = Span {
        channel: Channel::Text,
        best: 8.0,
        worst: 1.0,
    };
    const VECTOR_SPAN: Span = Span {
        channel: Channel::Vector,
        best: 0.8,
        worst: 0.6,
    };

    fn page(scores: &[(Channel, usize, f64)]) -> ScoreBreakdown {
        let channels = scores
            .iter()
            .map(|&(channel, rank, score)| ChannelScore { channel, rank, score });
        ScoreBreakdown {
            channels: channels.collect(),
            ..ScoreBreakdown::default()
        }
    }

    #[test]
    fn relative_scores_keep_how_much_better_a_page_is() {
        let spans = [TEXT, VECTOR_SPAN];
        let clear = page(&[(Channel::Text, 1, 8.0), (Channel::Vector, 40, 0.6)]);
        let close = page(&[(Channel::Text, 2, 2.0), (Channel::Vector, 1, 0.8)]);
        let score = |page| Fusion::relative_score().score(page, &spans);
        assert!((score(&clear) - 1.0 / 1.5).abs() < 1e-9);
        assert!((score(&close) - 0.75 / 1.5).abs() < 1e-9);
        let both = page(&[(Channel::Text, 1, 8.0), (Channel::Vector, 1, 0.8)]);
        assert!((score(&both) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn equally_similar_vectors_all_count() {
        let same = Span {
            worst: 0.8,
            ..VECTOR_SPAN
        };
        let found = page(&[(Channel::Vector, 3, 0.8)]);
        assert!((Fusion::relative_score().score(&found, &[TEXT, same]) - 0.5 / 1.5).abs() < 1e-9);
    }

    #[test]
    fn channels_without_results_leave_the_order_to_the_others() {
        let empty = Span {
            channel: Channel::Text,
            best: 0.0,
            worst: 0.0,
        };
        for fusion in [Fusion::relative_score(), Fusion::reciprocal_rank(), Fusion::weights()] {
            let score =
                |rank, similarity| fusion.score(&page(&[(Channel::Vector, rank, similarity)]), &[empty, VECTOR_SPAN]);
            assert!(score(1, 0.8) > score(2, 0.7), "{fusion:?}");
            assert!(fusion.score(&page(&[]), &[]).abs() < 1e-9, "{fusion:?}");
        }
    }
}
