//! Patterns of well-known keys.
//!
//! The prefixes follow the secret scanning patterns of GitHub
//! (<https://docs.github.com/en/code-security/secret-scanning>) and the vendors' documentation of their keys, bearer
//! tokens follow RFC 6750, JSON web tokens RFC 7519, and private keys RFC 7468.

use std::ops::Range;

/// A pattern of keys: a prefix and the body that follows it.
struct Pattern {
    prefix: &'static str,
    /// The minimum length of the body, in bytes.
    min_len: usize,
    /// Returns whether a byte may occur in the body.
    allows: fn(u8) -> bool,
    /// A further condition on the body, which distinguishes keys from ordinary words.
    accepts: fn(&str) -> bool,
    /// Whether the prefix is not part of the secret.
    keeps_prefix: bool,
}

const fn key(prefix: &'static str, min_len: usize, allows: fn(u8) -> bool) -> Pattern {
    Pattern {
        prefix,
        min_len,
        allows,
        accepts: |_| true,
        keeps_prefix: false,
    }
}

const fn scheme(prefix: &'static str) -> Pattern {
    Pattern {
        prefix,
        min_len: 8,
        allows: is_token,
        // "bearer authentication" is not a token.
        accepts: |body| body.len() >= 24 || body.bytes().any(|byte| byte.is_ascii_digit()),
        keeps_prefix: true,
    }
}

const PATTERNS: [Pattern; 30] = [
    // OpenAI, Anthropic, DeepSeek, OpenRouter and others.
    key("sk-", 12, is_word),
    // Stripe.
    key("sk_live_", 10, is_word),
    key("sk_test_", 10, is_word),
    key("rk_live_", 10, is_word),
    // Groq, xAI, Perplexity, Hugging Face, Replicate.
    key("gsk_", 20, is_word),
    key("xai-", 20, is_word),
    key("pplx-", 20, is_word),
    key("hf_", 20, is_word),
    key("r8_", 30, is_word),
    // Google.
    key("AIza", 30, is_word),
    key("ya29.", 20, is_word),
    // AWS.
    key("AKIA", 16, is_upper),
    key("ASIA", 16, is_upper),
    // GitHub, GitLab, npm, PyPI.
    key("ghp_", 20, is_word),
    key("gho_", 20, is_word),
    key("ghu_", 20, is_word),
    key("ghs_", 20, is_word),
    key("ghr_", 20, is_word),
    key("github_pat_", 20, is_word),
    key("glpat-", 16, is_word),
    key("npm_", 30, is_word),
    key("pypi-", 30, is_word),
    // Slack.
    key("xoxb-", 10, is_word),
    key("xoxp-", 10, is_word),
    key("xoxa-", 10, is_word),
    key("xapp-", 10, is_word),
    // JSON web tokens: three parts, of which the first is an object in base64.
    Pattern {
        prefix: "eyJ",
        min_len: 20,
        allows: is_token,
        accepts: |body| body.bytes().filter(|byte| *byte == b'.').count() >= 2,
        keeps_prefix: false,
    },
    scheme("Bearer "),
    scheme("bearer "),
    scheme("Basic "),
];

const PRIVATE_KEY: &str = "-----BEGIN ";

/// Returns the ranges of keys that are recognized by their form, in any order. They may overlap.
///
/// ```
/// use agcore_chat::redact::key_ranges;
///
/// assert_eq!(key_ranges("key: sk-0123456789abcdef."), [5..24]);
/// ```
pub fn key_ranges(text: &str) -> Vec<Range<usize>> {
    let keys = PATTERNS.iter().flat_map(|pattern| {
        let prefixes = text.match_indices(pattern.prefix);
        prefixes.filter_map(|(start, _)| pattern.find_at(text, start))
    });
    let private_keys = text
        .match_indices(PRIVATE_KEY)
        .filter_map(|(start, _)| private_key(text, start));
    keys.chain(private_keys).collect()
}

impl Pattern {
    /// Returns the range of the key whose prefix starts at `prefix`, if it is one.
    fn find_at(&self, text: &str, prefix: usize) -> Option<Range<usize>> {
        // Inside a word, as in `task-force`, it is not a prefix. A letter after a backslash is an escape, as in
        // `\nsk-…`.
        let before = &text.as_bytes()[..prefix];
        if let [.., before_last, last] = *before {
            if is_word(last) && before_last != b'\\' {
                return None;
            }
        } else if before.last().is_some_and(|last| is_word(*last)) {
            return None;
        }
        let start = prefix + self.prefix.len();
        let rest = &text.as_bytes()[start..];
        let length = rest.iter().position(|byte| !(self.allows)(*byte)).unwrap_or(rest.len());
        // A trailing full stop ends the sentence and does not belong to the key.
        let body = text[start..start + length].trim_end_matches('.');
        let is_key = body.len() >= self.min_len && (self.accepts)(body);
        let secret = if self.keeps_prefix { start } else { prefix };
        is_key.then(|| secret..start + body.len())
    }
}

/// Returns the range of the private key that starts at `start`, up to its last line or the end of the text.
fn private_key(text: &str, start: usize) -> Option<Range<usize>> {
    let label = start + PRIVATE_KEY.len();
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
    Some(start..end)
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
    fn finds_keys_by_their_patterns() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<_> = key_ranges(text).into_iter().map(|range| &text[range]).collect();
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
    fn ignores_ordinary_words() {
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
            assert!(key_ranges(text).is_empty(), "{text}");
        }
    }
}
