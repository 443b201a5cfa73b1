//! [`ResponseMetadata`]: useful HTTP headers of a reply.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};

/// Useful headers of the HTTP reply that a response came in: the server's id of the request, the remaining rate limits, and
/// how long the server took.
///
/// The headers are in a single allocation. Names are in lower case.
///
/// ```
/// use agcore_chat::ResponseMetadata;
///
/// let metadata = ResponseMetadata::new([("x-request-id", "req_1"), ("x-ratelimit-remaining-requests", "59")]);
/// assert_eq!(metadata.request_id(), Some("req_1"));
/// assert_eq!(metadata.header("x-ratelimit-remaining-requests"), Some("59"));
/// assert_eq!(serde_json::to_string(&metadata)?, r#"{"x-request-id":"req_1","x-ratelimit-remaining-requests":"59"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ResponseMetadata {
    /// Lines of `name: value`, each with a line feed at its end.
    lines: Box<str>,
}

impl ResponseMetadata {
    /// The names of the headers that contain the server's id of a request, in order of preference.
    pub const REQUEST_ID_HEADERS: &[&str] = &[
        "x-request-id",
        "request-id",
        "apim-request-id",
        "x-ms-request-id",
        "x-amzn-requestid",
        "x-ds-trace-id",
        "cf-ray",
    ];

    /// Creates metadata from names, in lower case, and values of headers. A pair that is not a header, because its name
    /// contains a colon or one of both a line break, is left out.
    pub fn new<'a, H>(headers: H) -> Self
    where
        H: IntoIterator<Item = (&'a str, &'a str), IntoIter: Clone>,
    {
        let headers = headers.into_iter();
        let length = headers.clone().map(|(name, value)| name.len() + value.len() + 3).sum();
        let mut lines = String::with_capacity(length);
        for (name, value) in headers {
            if is_header(name, value) {
                for part in [name, ": ", value, "\n"] {
                    lines.push_str(part);
                }
            }
        }
        Self {
            lines: lines.into_boxed_str(),
        }
    }

    /// Returns the server's id of the request, which the vendor's support may ask for.
    pub fn request_id(&self) -> Option<&str> {
        Self::REQUEST_ID_HEADERS
            .iter()
            .find_map(|name| self.header(name))
            .filter(|id| !id.is_empty())
    }

    /// Returns the first value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns all headers in the order received.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines
            .split_terminator('\n')
            .filter_map(|line| line.split_once(": "))
    }
}

fn is_header(name: &str, value: &str) -> bool {
    // Checks every byte without branches, which is faster than searching for patterns.
    let has = |text: &str, is_found: fn(u8) -> bool| text.bytes().fold(false, |found, byte| found | is_found(byte));
    !has(name, |byte| matches!(byte, b':' | b'\n' | b'\r')) && !has(value, |byte| matches!(byte, b'\n' | b'\r'))
}

impl fmt::Debug for ResponseMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.headers()).finish()
    }
}

impl Serialize for ResponseMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.headers())
    }
}

impl<'de> Deserialize<'de> for ResponseMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HeadersVisitor;
        impl<'de> Visitor<'de> for HeadersVisitor {
            type Value = ResponseMetadata;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("HTTP headers by name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResponseMetadata, A::Error> {
                let mut headers = Vec::new();
                while let Some(header) = map.next_entry::<String, String>()? {
                    headers.push(header);
                }
                let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                Ok(ResponseMetadata::new(headers))
            }
        }
        deserializer.deserialize_map(HeadersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_value_of_a_repeated_header_and_no_broken_pair() {
        let metadata = ResponseMetadata::new([
            ("cf-ray", "edge"),
            ("request-id", "a: b"),
            ("request-id", "second"),
            ("empty", ""),
            ("x\ny", "1"),
            ("z", "1\n2"),
            ("v:w", "1"),
        ]);
        assert_eq!(metadata.request_id(), Some("a: b"));
        assert_eq!(metadata.header("empty"), Some(""));
        assert_eq!(metadata.header("z"), None);
        assert_eq!(metadata.headers().count(), 4);
        let json = serde_json::to_string(&metadata).unwrap();
        let restored: ResponseMetadata = serde_json::from_str(&json).unwrap();
        assert_eq!(restored.request_id(), Some("a: b"));
    }
}
