//! Places in the text of a file, for error messages.

/// Returns the line and column of a byte offset, counted from 1: `:3:7`.
pub(crate) fn location(text: &str, offset: usize) -> String {
    let boundary = (0..=offset.min(text.len()))
        .rev()
        .find(|index| text.is_char_boundary(*index));
    let before = &text[..boundary.unwrap_or(0)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!(":{line}:{column}")
}

#[cfg(test)]
mod tests {
    use super::location;

    #[test]
    fn counts_lines_and_characters_from_one() {
        let check = |text: &str, offset: usize, expected: &str| {
            assert_eq!(location(text, offset), expected, "{text:?} {offset}");
        };
        check("", 0, ":1:1");
        check("ab\ncd", 3, ":2:1");
        check("é = 字x", 8, ":1:6");
        check("ab", 99, ":1:3");
    }
}
