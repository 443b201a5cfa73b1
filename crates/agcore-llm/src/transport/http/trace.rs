//! Events for requests and responses, without secrets. They cost nothing unless a subscriber wants debug events.

use http::HeaderMap;

use agcore_wire::{ReplyHead, WireRequest};

use super::base_url::BaseUrl;

/// Headers whose values contain no secrets. Of any other header, only the name is shown.
const HARMLESS: [&str; 13] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "cf-ray",
    "content-length",
    "content-type",
    "date",
    "request-id",
    "retry-after",
    "server",
    "transfer-encoding",
    "user-agent",
    "x-request-id",
];

/// Headers that report rate limits.
const HARMLESS_PREFIXES: [&str; 2] = ["x-ratelimit-", "anthropic-ratelimit-"];

/// Reports a request.
pub(super) fn request(request: &WireRequest, base: &BaseUrl, shows_path: bool) {
    // Queries may contain keys. Called only if a subscriber wants the event, as all arguments are.
    let path = || match shows_path {
        true => base
            .join(&request.path)
            .map(|uri| uri.path().to_owned())
            .unwrap_or_default(),
        false => "/***".to_owned(),
    };
    tracing::debug!(
        "{} {}{}, {} bytes; {}",
        request.method,
        base.origin(),
        path(),
        request.body.len(),
        visible(&request.headers)
    );
}

/// Reports the beginning of a response.
pub(super) fn response(head: &ReplyHead) {
    tracing::debug!("HTTP {}; {}", head.status.as_u16(), visible(&head.headers));
}

fn visible(headers: &HeaderMap) -> String {
    let shown = headers.iter().map(|(name, value)| {
        let name = name.as_str();
        let is_harmless = HARMLESS.contains(&name) || HARMLESS_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        match value.to_str() {
            Ok(value) if is_harmless && !value.is_empty() => format!("{name}: {value}"),
            _ => format!("{name}: ***"),
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn hides_the_values_of_unknown_headers() {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("authorization", HeaderValue::from_static("Bearer sk-secret"));
        headers.insert("x-ratelimit-remaining-requests", HeaderValue::from_static("7"));
        assert_eq!(
            visible(&headers),
            "content-type: application/json, authorization: ***, x-ratelimit-remaining-requests: 7"
        );
    }
}
