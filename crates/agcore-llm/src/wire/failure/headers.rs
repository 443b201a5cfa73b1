//! [`UsefulHeaders`]: the headers of a reply that help with its failure.

use http::HeaderMap;

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
    "content-encoding",
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

/// Room for what most replies have of [`USEFUL`].
const ROOM: usize = 192;

/// Lines of `name: value`, as they came: one copy, so that what the head itself was read into can go.
#[derive(Debug, Clone)]
pub(super) struct UsefulHeaders(String);

impl UsefulHeaders {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut lines = String::with_capacity(ROOM);
        for (name, value) in headers {
            // Values with other characters than those of text are of no use.
            if place(name.as_str()).is_some()
                && let Ok(value) = value.to_str()
            {
                for part in [name.as_str(), ": ", value, "\n"] {
                    lines.push_str(part);
                }
            }
        }
        Self(lines)
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.lines().filter_map(|line| line.split_once(": "))
    }

    /// A header's value, blanks around it cut off.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.iter().find(|(known, _)| *known == name)?;
        Some(value.trim())
    }

    /// Names and values as text, in the order of [`USEFUL`], the first of each name.
    pub(super) fn to_vec(&self) -> Vec<(String, String)> {
        let mut found: Vec<(&str, &str)> = self.iter().collect();
        found.sort_by_key(|(name, _)| place(name));
        found.dedup_by_key(|(name, _)| *name);
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        found.into_iter().map(owned).collect()
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

/// Which of [`USEFUL`] a header is. Replies have many others; most are told apart by their length alone.
fn place(name: &str) -> Option<usize> {
    let mut places = *BY_LENGTH.get(name.len())?;
    while places != 0 {
        let place = places.trailing_zeros() as usize;
        if USEFUL[place] == name {
            return Some(place);
        }
        places &= places - 1;
    }
    None
}

/// For each length of a name, a bit for each place in [`USEFUL`] of a name that long.
const BY_LENGTH: [u64; 64] = {
    let (mut places, mut at) = ([0; 64], 0);
    while at < USEFUL.len() {
        places[USEFUL[at].len()] |= 1 << at;
        at += 1;
    }
    places
};

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn useful_headers_are_kept_in_order_and_once() {
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
        let kept = UsefulHeaders::of(&headers);
        let all = kept.to_vec();
        let all: Vec<(&str, &str)> = all.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(all, [("x-request-id", "a: b"), ("date", ""), ("retry-after", "20 ")]);
        assert_eq!(kept.get("retry-after"), Some("20"));
        assert_eq!(kept.get("server"), None);
        assert_eq!(kept.request_id().as_deref(), Some("a: b"));
    }

    #[test]
    fn every_useful_header_is_found() {
        for (at, name) in USEFUL.iter().enumerate() {
            assert_eq!(place(name), Some(at), "{name}");
        }
        assert_eq!(place(&"x".repeat(200)), None);
    }
}
