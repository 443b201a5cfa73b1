//! Sizes of text for people.

/// Formats a size: `7 B`, `1.2 KB`, `3.4 MB`.
pub fn size(bytes: u64) -> String {
    let in_units = |unit: u64, name: &str| format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => in_units(1024, "KB"),
        _ => in_units(1_048_576, "MB"),
    }
}

/// Counts lines: `1 line`, `12 lines`.
pub fn lines(text: &str) -> String {
    match text.lines().count() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

/// Describes a text: `12 lines, 1.2 KB`.
pub fn extent(text: &str) -> String {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    format!("{}, {}", lines(text), size(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_sizes() {
        let check = |bytes, expected: &str| assert_eq!(size(bytes), expected);
        check(0, "0 B");
        check(1023, "1023 B");
        check(1024, "1.0 KB");
        check(1_048_575, "1023.9 KB");
        check(5 * 1_048_576 + 524_288, "5.5 MB");
        assert_eq!(extent("a\nb\n"), "2 lines, 4 B");
        assert_eq!(extent("a"), "1 line, 1 B");
    }
}
