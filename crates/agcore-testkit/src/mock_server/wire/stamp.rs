//! What a reply carries besides the answer.

use super::super::usage::TokenUsage;

/// 2024-01-01T00:00:00Z. The server has no clock: all replies are of one moment.
const CREATED: u64 = 1_704_067_200;

/// Ids, model and counts of one reply.
#[derive(Clone, Debug)]
pub(crate) struct Stamp {
    /// The request's place in the order of arrival.
    pub(crate) number: usize,
    /// A fixed id instead of a made-up one.
    pub(crate) id: Option<String>,
    pub(crate) model: String,
    pub(crate) usage: Option<TokenUsage>,
    /// Whether a chat stream shall carry the counts.
    pub(crate) include_usage: bool,
}

impl Stamp {
    /// The reply's id: the fixed one, or one that begins as the vendor's do.
    pub(crate) fn id(&self, prefix: &str) -> String {
        self.id.clone().unwrap_or_else(|| self.part_id(prefix))
    }

    /// The id of a part of the reply.
    pub(crate) fn part_id(&self, prefix: &str) -> String {
        format!("{prefix}mock{}", self.number)
    }

    /// The id under which the vendor would find the request in its logs.
    pub(crate) fn request_id(&self) -> String {
        self.part_id("req_")
    }

    /// Seconds since 1970.
    pub(crate) fn created(&self) -> u64 {
        CREATED
    }
}
