//! [`Dialect`]: how the values of a file are separated.

/// The number of bytes that are inspected to find the separator.
const SNIFFED_BYTES: usize = 16 << 10;

/// The separators in use. On a tie, the first one wins: the comma is also a part of texts and numbers.
const SEPARATORS: [u8; 4] = [b'\t', b';', b'|', b','];

/// The separator of a file, and where its rows begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) separator: u8,
    /// The number of bytes before the first row: blank lines, and the line `sep=`.
    pub(super) start: usize,
}

impl Dialect {
    /// Finds the separator of a file.
    pub(super) fn detect(text: &str) -> Self {
        let start = first_line(text);
        match declared(&text[start..]) {
            Some((separator, length)) => Self {
                separator,
                start: start + length,
            },
            None => Self {
                separator: separator(&text[start..]),
                start,
            },
        }
    }

    /// Returns the dialect of a file whose separator is the tab.
    pub(super) fn of_tabs(text: &str) -> Self {
        let start = first_line(text);
        let declared = declared(&text[start..]).map_or(0, |(_, length)| length);
        Self {
            separator: b'\t',
            start: start + declared,
        }
    }
}

/// Returns where the first line begins that is not blank. A tab separates values.
fn first_line(text: &str) -> usize {
    let rest = text.trim_start_matches([' ', '\r', '\n']);
    let before = &text[..text.len() - rest.len()];
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// Reads a line such as `sep=;`, which Excel writes and reads. Returns its length as well.
fn declared(text: &str) -> Option<(u8, usize)> {
    let line = text.split_inclusive('\n').next()?;
    let content = line.trim_end_matches(['\r', '\n']);
    let content = content
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(content);
    let (name, value) = content.split_at_checked(4)?;
    if !name.eq_ignore_ascii_case("sep=") {
        return None;
    }
    match value.as_bytes() {
        // Excel fills up the line when it saves such a file again.
        [separator, rest @ ..] if separator.is_ascii() && rest.iter().all(|byte| byte == separator) => {
            Some((*separator, line.len()))
        }
        _ => None,
    }
}

/// Returns the separator that occurs as often in as many lines as possible, outside of quotes.
fn separator(text: &str) -> u8 {
    let mut end = text.len().min(SNIFFED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = &text[..end];
    let scores = SEPARATORS.map(|separator| score(sample, separator));
    let mut best = (0, b',');
    for (separator, score) in SEPARATORS.into_iter().zip(scores) {
        if score > best.0 {
            best = (score, separator);
        }
    }
    best.1
}

/// Returns how many lines have the most frequent number of separators, which is at least one.
fn score(sample: &str, separator: u8) -> usize {
    let counts = counts(sample, separator);
    let most = counts.iter().copied().filter(|count| *count > 0).map(|count| {
        let same = counts.iter().filter(|other| **other == count).count();
        (same, count)
    });
    most.max().map_or(0, |(same, _)| same)
}

/// Returns how often a separator occurs in each line that is not blank.
fn counts(sample: &str, separator: u8) -> Vec<usize> {
    let mut counts = Vec::new();
    let (mut count, mut is_quoted, mut is_blank) = (0, false, true);
    // A quote within a value, such as the mark of inches, has no meaning.
    let mut is_start = true;
    for byte in sample.bytes() {
        match byte {
            b'"' if is_quoted || is_start => is_quoted = !is_quoted,
            b'\n' if !is_quoted => {
                if !is_blank {
                    counts.push(count);
                }
                (count, is_blank, is_start) = (0, true, true);
                continue;
            }
            byte if byte == separator && !is_quoted => {
                count += 1;
                (is_blank, is_start) = (false, true);
                continue;
            }
            _ => {}
        }
        is_blank &= byte.is_ascii_whitespace();
        // A doubled quote within quotes ends and begins them.
        is_start = byte == b'"';
    }
    if !is_blank || counts.is_empty() {
        counts.push(count);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: u8) {
        assert_eq!(
            char::from(Dialect::detect(text).separator),
            char::from(expected),
            "{text}"
        );
    }

    #[test]
    fn the_separator_is_detected() {
        check("a,b\n1,2\n", b',');
        check("a;b\n1,5;2\n2,5;3\n", b';');
        check("a\tb\n1\t2", b'\t');
        check("a|b|c\n1|2|3\n", b'|');
        check("\"a;b\",c\n\"d;e\",f\n", b',');
        check("one column\nonly\n", b',');
        check("", b',');
        check("name;desc, short\na;b, c\n", b';');
        check("id,tags\n1,a;b\n2,c;d\n", b',');
        check("pipe,size\n\"a;b\"\"c\",5\" \nx,6\"\n", b',');
        check("Export, May 2026\n\nday;sum\n1;2,50\n2;3,50\n", b';');
        check("\n\n a\tb;c\n1\t2\n", b'\t');
    }

    #[test]
    fn a_file_can_declare_its_separator() {
        let check = |text: &str, separator: u8, rest: &str| {
            let found = Dialect::detect(text);
            assert_eq!((found.separator, &text[found.start..]), (separator, rest), "{text}");
        };
        check("sep=;\r\na,b;c\n", b';', "a,b;c\n");
        check("\n\"SEP=|\"\na,b|c\n", b'|', "a,b|c\n");
        check("sep=\t\na", b'\t', "a");
        check("sep=;;;\na;b;c;d", b';', "a;b;c;d");
        check("sep=\na,b", b',', "sep=\na,b");
        check("separator,b\n", b',', "separator,b\n");
        assert_eq!(
            Dialect::of_tabs("sep=\t\na"),
            Dialect {
                separator: b'\t',
                start: 6
            }
        );
    }
}
