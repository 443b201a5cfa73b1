//! The whole numbers in a message.

/// A whole number, and its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Integer {
    pub(super) value: u64,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns the whole numbers of a text in order, with or without separators of thousands. Digits in names of models,
/// versions and fractions do not count.
pub(super) fn integers(text: &str) -> Vec<Integer> {
    let (bytes, mut found, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && (bytes[at].is_ascii_digit() || is_separator(bytes, at)) {
            at += 1;
        }
        if is_separate(text, start, at)
            && let Ok(value) = text[start..at].replace([',', '_'], "").parse()
        {
            found.push(Integer { value, start, end: at });
        }
    }
    found
}

/// Returns whether the byte separates thousands.
fn is_separator(bytes: &[u8], at: usize) -> bool {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    matches!(bytes[at], b',' | b'_') && (at + 1..at + 4).all(is_digit) && !is_digit(at + 4)
}

/// Returns whether the digits are not part of a word, a name or a fraction.
fn is_separate(text: &str, start: usize, end: usize) -> bool {
    let (before, after) = (&text[..start], &text[end..]);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut last = before.chars().rev();
    let continues = match last.next() {
        Some('-' | '.' | '/' | '@') => last.next().is_some_and(is_word),
        Some(c) => is_word(c),
        None => false,
    };
    let mut next = after.chars();
    let goes_on = match next.next() {
        Some('.' | '-' | '/') => next.next().is_some_and(is_word),
        Some(c) => is_word(c),
        None => false,
    };
    !continues && !goes_on
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[u64]) {
        let values: Vec<_> = integers(text).iter().map(|number| number.value).collect();
        assert_eq!(values, expected, "{text}");
    }

    #[test]
    fn finds_whole_numbers_but_no_names_and_fractions() {
        check("max_tokens: 20000 > 8192.", &[20_000, 8192]);
        check("16,384 or 16_384, not 3.5 or gpt-4o-2024-08-06", &[16_384, 16_384]);
        check("[1, 8192] and [1,8192]", &[1, 8192, 1, 8192]);
        check("claude-3-5-haiku-20241022 32k v2 x2", &[]);
        check("不能大于8192", &[8192]);
        check("8192 - 12", &[8192, 12]);
        check("99999999999999999999999", &[]);
        check("", &[]);
    }
}
