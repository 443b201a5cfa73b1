//! [`UsefulHeaders`]: the headers of a reply that help with its failure.

use http::{HeaderMap, HeaderValue};

/// Kept in errors: request ids, hints, limits. Names as OpenAI, Azure, Anthropic, Groq, Google and Cloudflare write them.
const USEFUL: &[&str] = &[
    "x-request-id",
    "request-id",
    "apim-request-id",
    "x-ms-request-id",
    "x-amzn-requestid",
    "x-ds-trace-id",
    "cf-ray",
    "date",
    "location",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-input-tokens-limit",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-ratelimit-input-tokens-reset",
    "anthropic-ratelimit-output-tokens-limit",
    "anthropic-ratelimit-output-tokens-remaining",
    "anthropic-ratelimit-output-tokens-reset",
];

/// How many of [`USEFUL`], from the front, are ids of a request; the most telling first.
const IDS: usize = 7;

/// Counters that a server tells, as the names of what remains and of when it is filled up again.
pub(super) const COUNTERS: &[(&str, &str)] = &[
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    (
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
    ),
    (
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset",
    ),
    (
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-input-tokens-reset",
    ),
    (
        "anthropic-ratelimit-output-tokens-remaining",
        "anthropic-ratelimit-output-tokens-reset",
    ),
];

/// Names and values; a value is shared with the head it came from, so that keeping it costs no copy.
#[derive(Debug, Clone)]
pub(super) struct UsefulHeaders(Vec<(&'static str, HeaderValue)>);

impl UsefulHeaders {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut found = Vec::with_capacity(headers.len().min(USEFUL.len()));
        found.extend(
            USEFUL
                .iter()
                .filter_map(|name| Some((*name, headers.get(*name)?.clone()))),
        );
        Self(found)
    }

    /// A header's value, blanks around it cut off.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| *known == name)?;
        value.to_str().ok().map(str::trim)
    }

    /// Names and values as text.
    pub(super) fn to_vec(&self) -> Vec<(String, String)> {
        let text = |(name, value): &(&str, HeaderValue)| Some(((*name).to_owned(), value.to_str().ok()?.to_owned()));
        self.0.iter().filter_map(text).collect()
    }

    /// The server's id of the request.
    pub(super) fn request_id(&self) -> Option<String> {
        USEFUL[..IDS]
            .iter()
            .find_map(|name| self.get(name))
            .filter(|id| !id.is_empty())
            .map(str::to_owned)
    }

    /// Whether the server itself says that a retry helps or not.
    pub(super) fn should_retry(&self) -> Option<bool> {
        match self.get("x-should-retry")? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
}
