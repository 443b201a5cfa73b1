//! Cases of bodies that were saved without their HTTP heads.

use super::{CaseClose, CaseHead, WireCase, ok};

impl WireCase {
    /// Creates a case from a body that was saved alone, for example by `curl`. The status is 200, and the content type is guessed
    /// from how the body starts.
    pub fn of_body(id: impl Into<String>, dialect: impl Into<String>, body: &[u8]) -> Self {
        let kind = content_type(body).to_owned();
        Self {
            id: id.into(),
            dialect: dialect.into(),
            quirk: String::new(),
            http: CaseHead {
                status: ok(),
                headers: [("content-type".to_owned(), kind)].into(),
            },
            body: String::new(),
            bytes: None,
            splits: Vec::new(),
            close: CaseClose::Clean,
        }
    }
}

fn content_type(body: &[u8]) -> &'static str {
    match body.trim_ascii_start().first() {
        Some(b'{' | b'[') if serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok() => "application/json",
        Some(b'{') => "application/x-ndjson",
        Some(b'<') => "text/html",
        _ => "text/event-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_the_content_type() {
        let check = |body: &str, expected: &str| assert_eq!(content_type(body.as_bytes()), expected, "{body}");
        check("data: {}\n\n", "text/event-stream");
        check(": hello\n", "text/event-stream");
        check("\n{\"a\": [1]}\n", "application/json");
        check("{\"a\":1}\n{\"a\":2}\n", "application/x-ndjson");
        check("{\"a\":", "application/x-ndjson");
        check("<html>", "text/html");
        check("", "text/event-stream");
    }
}
