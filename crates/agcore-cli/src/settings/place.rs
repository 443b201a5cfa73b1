//! Where in a file something stands.

/// Line and column, from 1, of a byte: `:3:7`.
pub(super) fn place(text: &str, at: usize) -> String {
    let boundary = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let before = &text[..boundary.unwrap_or(0)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!(":{line}:{column}")
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn counts_from_one_and_in_characters() {
        let check = |text: &str, at: usize, expected: &str| assert_eq!(place(text, at), expected, "{text:?} {at}");
        check("", 0, ":1:1");
        check("ab\ncd", 3, ":2:1");
        check("é = 字x", 8, ":1:6");
        check("ab", 99, ":1:3");
    }
}
