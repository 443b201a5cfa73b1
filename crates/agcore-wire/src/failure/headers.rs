//! [`UsefulHeaders`]: the headers of a reply that are useful in an error; and [`response_metadata`], those that are useful in
//! a response.

use std::iter;

use agcore_chat::ResponseMetadata;
use http::HeaderMap;

use crate::wire::ReplyHead;

/// The headers kept in errors: request ids, hints and limits of OpenAI, Azure, Anthropic, Groq, Google, Amazon and Cloudflare.
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
    "content-encoding",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "x-amzn-errortype",
    "openai-processing-ms",
    "x-envoy-upstream-service-time",
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

/// The number of entries at the front of [`USEFUL`] that are ids of a request, in order of preference.
const IDS: usize = ResponseMetadata::REQUEST_ID_HEADERS.len();

/// A bit for each entry of [`USEFUL`] that only helps to understand an error: from `date` to `x-amzn-errortype`.
const ONLY_IN_ERRORS: u64 = 0b111_1111 << IDS;

/// The counters of servers: the names of the headers with what remains and with when it is reset.
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

/// The character that stands for the first of [`USEFUL`]; the others follow it. All are printable ASCII.
const MARK: u8 = b'!';

/// The initial capacity, which is enough for most replies.
const CAPACITY: usize = 192;

/// Headers in the order received: of each, a [character](MARK) for its name, its value, and a line break. A single copy, so that
/// the buffer of the head can be freed.
#[derive(Debug, Clone)]
pub(super) struct UsefulHeaders(String);

impl UsefulHeaders {
    pub(super) fn new(headers: &HeaderMap) -> Self {
        let mut lines = String::with_capacity(CAPACITY);
        for (name, value) in headers {
            // Values that are not text are useless.
            if let Some(at) = position(name.as_str())
                && let Ok(value) = value.to_str()
            {
                lines.push(char::from(MARK + at));
                lines.push_str(value);
                lines.push('\n');
            }
        }
        Self(lines)
    }

    /// Returns positions in [`USEFUL`] and values.
    fn iter(&self) -> impl Iterator<Item = (u8, &str)> {
        self.0.split_terminator('\n').filter_map(|line| {
            let mark = line.bytes().next()?;
            Some((mark.checked_sub(MARK)?, &line[1..]))
        })
    }

    /// Returns the value of a header, without surrounding whitespace.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let name = position(name)?;
        let (_, value) = self.iter().find(|(known, _)| *known == name)?;
        Some(value.trim())
    }

    /// Returns names and values in the order of [`USEFUL`]; of a repeated header, the first value.
    pub(super) fn to_vec(&self) -> Vec<(String, String)> {
        let mut found: Vec<(u8, &str)> = self.iter().collect();
        found.sort_by_key(|(name, _)| *name);
        found.dedup_by_key(|(name, _)| *name);
        let owned = |(name, value): (u8, &str)| (USEFUL[usize::from(name)].to_owned(), value.to_owned());
        found.into_iter().map(owned).collect()
    }

    /// Returns the server's id of the request.
    pub(super) fn request_id(&self) -> Option<String> {
        USEFUL[..IDS]
            .iter()
            .find_map(|name| self.get(name))
            .filter(|id| !id.is_empty())
            .map(str::to_owned)
    }

    /// Returns whether the server advises a retry, if it does either way.
    pub(super) fn should_retry(&self) -> Option<bool> {
        match self.get("x-should-retry")? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
}

/// Returns the useful headers of a successful reply: request ids, what remains of the rate limits and when they are reset,
/// and how long the server took. `None`, without an allocation, if there are none.
///
/// ```
/// use agcore_wire::{ReplyHead, response_metadata};
///
/// let mut head = ReplyHead::default();
/// assert_eq!(response_metadata(&head), None);
///
/// head.headers.insert("request-id", http::HeaderValue::from_static("req_1"));
/// head.headers.insert("anthropic-ratelimit-requests-remaining", http::HeaderValue::from_static("59"));
/// let metadata = response_metadata(&head).unwrap();
/// assert_eq!(metadata.request_id(), Some("req_1"));
/// assert_eq!(metadata.header("anthropic-ratelimit-requests-remaining"), Some("59"));
/// ```
pub fn response_metadata(head: &ReplyHead) -> Option<ResponseMetadata> {
    // One pass over the headers of a reply, which are few, instead of a search for each name.
    let (mut values, mut found) = ([None; USEFUL.len()], 0);
    for (name, value) in &head.headers {
        if let Some(at) = position(name.as_str()).filter(|at| (found | ONLY_IN_ERRORS) & (1 << at) == 0) {
            values[usize::from(at)] = value.to_str().ok();
            found |= 1 << at;
        }
    }
    let headers = bits(found).filter_map(|at| Some((USEFUL[usize::from(at)], values[usize::from(at)]?)));
    headers.clone().next()?;
    Some(ResponseMetadata::new(headers))
}

/// Returns the position of a header in [`USEFUL`]. The length alone rules out most of the other headers of a reply.
fn position(name: &str) -> Option<u8> {
    bits(*BY_LENGTH.get(name.len())?).find(|at| USEFUL[usize::from(*at)] == name)
}

/// Returns the positions of the bits that are set, in order.
fn bits(mut bits: u64) -> impl Iterator<Item = u8> + Clone {
    iter::from_fn(move || {
        let lowest = (bits != 0).then(|| bits.trailing_zeros() as u8)?;
        bits &= bits - 1;
        Some(lowest)
    })
}

/// For each length of a name, a bit for each position in [`USEFUL`] of a name with that length.
const BY_LENGTH: [u64; 64] = {
    let (mut positions, mut at) = ([0; 64], 0);
    while at < USEFUL.len() {
        positions[USEFUL[at].len()] |= 1 << at;
        at += 1;
    }
    positions
};

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn keeps_useful_headers_once_and_in_order() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("retry-after", "20 "),
            ("server", "x"),
            ("x-request-id", "a: b"),
            ("x-request-id", "second"),
            ("cf-ray", "é"),
            ("date", ""),
        ] {
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let kept = UsefulHeaders::new(&headers);
        let all = kept.to_vec();
        let all: Vec<(&str, &str)> = all.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(all, [("x-request-id", "a: b"), ("date", ""), ("retry-after", "20 ")]);
        assert_eq!(kept.get("retry-after"), Some("20"));
        assert_eq!(kept.get("server"), None);
        assert_eq!(kept.request_id().as_deref(), Some("a: b"));
    }

    #[test]
    fn finds_every_useful_header() {
        for (at, name) in USEFUL.iter().enumerate() {
            assert_eq!(position(name).map(usize::from), Some(at), "{name}");
            let headers = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(""))]);
            let kept = UsefulHeaders::new(&headers);
            assert_eq!(kept.get(name), Some(""));
            assert_eq!(kept.to_vec(), [((*name).to_owned(), String::new())]);
        }
        assert_eq!(position(&"x".repeat(200)), None);
    }

    #[test]
    fn ids_come_first_and_hints_for_errors_next() {
        assert_eq!(&USEFUL[..IDS], ResponseMetadata::REQUEST_ID_HEADERS);
        let hints: Vec<_> = bits(ONLY_IN_ERRORS).map(|at| USEFUL[usize::from(at)]).collect();
        assert_eq!((hints[0], hints[6]), ("date", "x-amzn-errortype"));
        assert_eq!(hints.len(), 7);
    }
}
