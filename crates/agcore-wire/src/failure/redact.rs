//! Removal of API keys from messages: some servers repeat the key that they reject.

use std::borrow::Cow;

/// The prefixes of keys: of OpenAI and many others, Groq, xAI, Google, Hugging Face, GitHub, JSON web tokens, and of
/// anything after `Bearer`.
const PREFIXES: &[&str] = &[
    "sk-", "sk_", "gsk_", "xai-", "AIza", "hf_", "ghp_", "gho_", "eyJ", "Bearer ", "bearer ",
];

/// The minimum length of a key; anything shorter is a word.
const MIN_KEY: usize = 16;

/// Returns the text without keys; borrowed if it has none.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    let mut keys: Vec<(usize, usize)> = keys(text).collect();
    if keys.is_empty() {
        return Cow::Borrowed(text);
    }
    keys.sort_unstable();
    let (mut clean, mut shown) = (String::new(), 0);
    for (begin, end) in keys {
        // A key may begin inside another: "sk-…-Bearer …".
        if begin >= shown {
            clean.push_str(&text[shown..begin]);
            clean.push_str("[redacted]");
        }
        shown = shown.max(end);
    }
    clean.push_str(&text[shown..]);
    Cow::Owned(clean)
}

/// Returns the range of the secret part of each key, in no particular order.
fn keys(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let starts = PREFIXES.iter().flat_map(|prefix| text.match_indices(prefix));
    starts.filter_map(|(at, prefix)| {
        let before = &text[..at];
        let inside_word = before.ends_with(|c: char| c.is_ascii_alphanumeric()) && !ends_with_escape(before);
        let secret = at + prefix.len();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '=');
        let end = text[secret..]
            .find(|c| !is_part(c))
            .map_or(text.len(), |len| secret + len);
        // "Bearer" itself is not secret.
        let begin = if prefix.ends_with(' ') { secret } else { at };
        (!inside_word && end - secret >= MIN_KEY).then_some((begin, end))
    })
}

/// Returns whether the text ends with a JSON escape, whose last letter is not part of a word. Excerpts of bodies are raw.
fn ends_with_escape(text: &str) -> bool {
    let escape = |letters: &str| letters.strip_prefix('\\').is_some_and(is_escape_name);
    [2, 6].iter().any(|len| {
        let begin = text.len().checked_sub(*len);
        begin.and_then(|begin| text.get(begin..)).is_some_and(escape)
    })
}

/// Returns whether this follows the backslash in an escape that ends with a letter or digit.
fn is_escape_name(name: &str) -> bool {
    match name.strip_prefix('u') {
        Some(digits) => digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
        None => matches!(name, "b" | "f" | "n" | "r" | "t"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text), expected);
    }

    #[test]
    fn removes_keys() {
        check(
            "wrong key sk-proj-abcdefghijklmnopqrstuvwxyz0123 given",
            "wrong key [redacted] given",
        );
        check(
            "Authorization: Bearer abcdefghijklmnop1234",
            "Authorization: Bearer [redacted]",
        );
        check("Bearer sk-abcdefghijklmnopqrst", "Bearer [redacted]");
        check(
            "keys gsk_0123456789abcdefghij, AIzaSyA0123456789abcdefgh",
            "keys [redacted], [redacted]",
        );
    }

    #[test]
    fn removes_keys_after_escapes() {
        check(r"wrong key:\nsk-abcdefghijklmnop1234", r"wrong key:\n[redacted]");
        check(r"\u000ask-abcdefghijklmnop1234", r"\u000a[redacted]");
        check(r"\u00zask-abcdefghijklmnop1234", r"\u00zask-abcdefghijklmnop1234");
        check("é\\usk-abcdefghijklmnop1234", "é\\usk-abcdefghijklmnop1234");
    }

    #[test]
    fn removes_overlapping_keys() {
        check(
            "sk-abcdefghijklmnop-Bearer abcdefghijklmnop1234",
            "[redacted] [redacted]",
        );
        check("sk-abcdefghijklmnop-sk-abcdefghijklmnop,x", "[redacted],x");
    }

    #[test]
    fn keeps_words_and_masked_keys() {
        check("sk-proj-********************abcd", "sk-proj-********************abcd");
        check(
            "a risk-free-and-very-long-compound-word",
            "a risk-free-and-very-long-compound-word",
        );
        check("Bearer token is missing", "Bearer token is missing");
        check("é sk-", "é sk-");
    }
}
