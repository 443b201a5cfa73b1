//! The tables `[timeouts]` and `[retry]`, for all providers or for one of them.

use serde::Deserialize;

use super::duration::{Limit, Span};

/// The table `[timeouts]`: the time limits of each stage of a request.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeoutTable {
    /// Resolving the host and connecting.
    pub connect: Option<Limit>,
    /// The wait for the beginning of a streamed answer.
    pub first_byte: Option<Limit>,
    /// The wait between two parts of an answer.
    pub idle: Option<Limit>,
    /// A whole answer that is not streamed.
    pub total: Option<Limit>,
}

/// The table `[retry]`: when and how often a failed request is sent again.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetryTable {
    /// The number of attempts after the first.
    pub(crate) max_retries: Option<u32>,
    /// The number of attempts after the first if no server listens on this machine.
    pub(crate) local_retries: Option<u32>,
    /// The longest pause before the first retry.
    pub base: Option<Span>,
    /// The longest pause before any retry.
    pub(crate) cap: Option<Span>,
    /// The time for all attempts and pauses together.
    pub budget: Option<Span>,
}

/// The table `[providers.NAME]`: what applies to one provider only.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProviderTable {
    /// Its timeouts.
    #[serde(default)]
    pub timeouts: TimeoutTable,
    /// Its retries.
    #[serde(default)]
    pub retry: RetryTable,
}
