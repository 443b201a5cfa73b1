//! The shapes of well-known keys, found without knowing the key.
//!
//! Prefixes after the secret scanning pages of GitHub (<https://docs.github.com/en/code-security/secret-scanning>) and the
//! vendors' own pages on their keys; bearer tokens after RFC 6750, JSON web tokens after RFC 7519, private keys after
//! RFC 7468.

use std::ops::Range;

/// A prefix and what follows it.
struct Shape {
    prefix: &'static str,
    /// How many bytes follow at least.
    least: usize,
    /// What may follow.
    body: fn(u8) -> bool,
    /// What else is true of what follows, where words of a text begin likewise.
    holds: fn(&str) -> bool,
    /// Whether the prefix stays.
    keeps_prefix: bool,
}

const fn shape(prefix: &'static str, least: usize, body: fn(u8) -> bool) -> Shape {
    Shape {
        prefix,
        least,
        body,
        holds: |_| true,
        keeps_prefix: false,
    }
}

const fn scheme(prefix: &'static str) -> Shape {
    Shape {
        prefix,
        least: 8,
        body: is_token,
        // "bearer authentication" is no token.
        holds: |body| body.len() >= 24 || body.bytes().any(|byte| byte.is_ascii_digit()),
        keeps_prefix: true,
    }
}

const SHAPES: [Shape; 30] = [
    // OpenAI, Anthropic, DeepSeek, OpenRouter and others.
    shape("sk-", 12, is_word),
    // Stripe.
    shape("sk_live_", 10, is_word),
    shape("sk_test_", 10, is_word),
    shape("rk_live_", 10, is_word),
    // Groq, xAI, Perplexity, Hugging Face, Replicate.
    shape("gsk_", 20, is_word),
    shape("xai-", 20, is_word),
    shape("pplx-", 20, is_word),
    shape("hf_", 20, is_word),
    shape("r8_", 30, is_word),
    // Google.
    shape("AIza", 30, is_word),
    shape("ya29.", 20, is_word),
    // AWS.
    shape("AKIA", 16, is_upper),
    shape("ASIA", 16, is_upper),
    // GitHub, GitLab, npm, PyPI.
    shape("ghp_", 20, is_word),
    shape("gho_", 20, is_word),
    shape("ghu_", 20, is_word),
    shape("ghs_", 20, is_word),
    shape("ghr_", 20, is_word),
    shape("github_pat_", 20, is_word),
    shape("glpat-", 16, is_word),
    shape("npm_", 30, is_word),
    shape("pypi-", 30, is_word),
    // Slack.
    shape("xoxb-", 10, is_word),
    shape("xoxp-", 10, is_word),
    shape("xoxa-", 10, is_word),
    shape("xapp-", 10, is_word),
    // A JSON web token: three parts, the first of which is an object.
    Shape {
        prefix: "eyJ",
        least: 20,
        body: is_token,
        holds: |body| body.bytes().filter(|byte| *byte == b'.').count() >= 2,
        keeps_prefix: false,
    },
    scheme("Bearer "),
    scheme("bearer "),
    scheme("Basic "),
];

const PRIVATE_KEY: &str = "-----BEGIN ";

/// The places of what has the shape of a key, in no order.
pub(super) fn found(text: &str) -> Vec<Range<usize>> {
    let shaped = SHAPES.iter().flat_map(|shape| {
        let places = text.match_indices(shape.prefix);
        places.filter_map(|(at, _)| shape.place(text, at))
    });
    let private = text
        .match_indices(PRIVATE_KEY)
        .filter_map(|(at, _)| private_key(text, at));
    shaped.chain(private).collect()
}

impl Shape {
    fn place(&self, text: &str, at: usize) -> Option<Range<usize>> {
        // Within a word it is no prefix: `task-force`. Behind a backslash it is a letter of an escape: `\nsk-…`.
        let before = &text.as_bytes()[..at];
        if let [.., before_last, last] = *before {
            if is_word(last) && before_last != b'\\' {
                return None;
            }
        } else if before.last().is_some_and(|last| is_word(*last)) {
            return None;
        }
        let start = at + self.prefix.len();
        let rest = &text.as_bytes()[start..];
        let length = rest.iter().position(|byte| !(self.body)(*byte)).unwrap_or(rest.len());
        let body = &text[start..start + length];
        // A full stop ends a sentence, not a key.
        let body = body.trim_end_matches('.');
        let is_shaped = body.len() >= self.least && (self.holds)(body);
        let from = if self.keeps_prefix { start } else { at };
        is_shaped.then(|| from..start + body.len())
    }
}

/// A private key from its first line to its last, or to the end of the text.
fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    let label = at + PRIVATE_KEY.len();
    let body = label + text[label..].find("-----")?;
    if !text[label..body].ends_with("PRIVATE KEY") {
        return None;
    }
    let end = text[body..].find("-----END ").map_or(text.len(), |end| {
        let label = body + end + "-----END ".len();
        text[label..]
            .find("-----")
            .map_or(text.len(), |end| label + end + "-----".len())
    });
    Some(at..end)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_their_shape() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<_> = found(text).into_iter().map(|place| &text[place]).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("my key is sk-proj-abcDEF123456.", &["sk-proj-abcDEF123456"]);
        check(r#"{"k":"sk-ant-api03-abcdefgh"}"#, &["sk-ant-api03-abcdefgh"]);
        check(r#"{"k":"line\nsk-ant-api03-abcdefgh"}"#, &["sk-ant-api03-abcdefgh"]);
        check("AKIAIOSFODNN7EXAMPLE", &["AKIAIOSFODNN7EXAMPLE"]);
        check(
            "x ghp_0123456789abcdefghij0123456789abcdef y",
            &["ghp_0123456789abcdefghij0123456789abcdef"],
        );
        check("Authorization: Bearer abc.def-1234=", &["abc.def-1234="]);
        check(
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
            &["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"],
        );
        let key = "-----BEGIN RSA PRIVATE KEY-----\\nMIIabc\\n-----END RSA PRIVATE KEY-----";
        check(&format!("a {key} b"), &[key]);
        check(
            "-----BEGIN PRIVATE KEY-----\nMII",
            &["-----BEGIN PRIVATE KEY-----\nMII"],
        );
    }

    #[test]
    fn words_are_no_keys() {
        for text in [
            "a task-force-of-twenty-people",
            "sk-short",
            "we use Bearer authentication here",
            "AKIA is a prefix",
            "eyJ0aGlzIjoibm8gdG9rZW4ifQ",
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
            "Bearer [redacted]",
            "[redacted]",
            "",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
