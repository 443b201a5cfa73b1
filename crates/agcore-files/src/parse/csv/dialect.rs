//! [`Dialect`]: how the values of a file are separated.

/// The number of bytes that are inspected to find the separator.
const SNIFFED_BYTES: usize = 16 << 10;

/// The ends of lines; a program of the classic Mac OS writes only the first one.
const LINE_ENDS: [char; 2] = ['\r', '\n'];

/// The separators in use. On a tie, the first one wins: the comma is also a part of texts and numbers.
const SEPARATORS: [u8; 4] = [b'\t', b';', b'|', b','];

/// The number of bytes on each side of a comma that are inspected to find out whether it is a part of a number.
const MAX_NUMBER_BYTES: usize = 32;

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
    before.rfind(LINE_ENDS).map_or(0, |end| end + 1)
}

/// Reads a line such as `sep=;`, which Excel writes and reads. Returns its length as well.
fn declared(text: &str) -> Option<(u8, usize)> {
    let content = text.split(LINE_ENDS).next()?;
    let rest = &text[content.len()..];
    let end = rest.len().min(if rest.starts_with("\r\n") { 2 } else { 1 });
    let line = content.trim_end_matches(' ');
    let line = line
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        // A space at the end may be the separator.
        .unwrap_or(content);
    let (name, value) = line.split_at_checked(4)?;
    if !name.eq_ignore_ascii_case("sep=") {
        return None;
    }
    let separator = match value.trim_end_matches(' ') {
        "" => value,
        "\\t" => "\t",
        value => value,
    };
    match separator.as_bytes() {
        // Excel fills up the line when it saves such a file again.
        [separator, rest @ ..] if separator.is_ascii() && rest.iter().all(|byte| byte == separator) => {
            Some((*separator, content.len() + end))
        }
        _ => None,
    }
}

/// The evidence for a separator: the more, the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Score {
    /// The number of lines in which it cannot be anything else.
    certain: usize,
    /// The number of lines with its most frequent number, which is at least one.
    lines: usize,
}

/// Returns the separator that occurs as often in as many lines as possible, outside of quotes.
fn separator(text: &str) -> u8 {
    let mut end = text.len().min(SNIFFED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = &text[..end];
    let mut best = (Score::default(), b',');
    for separator in SEPARATORS {
        let score = score(&lines(sample, separator));
        if score > best.0 {
            best = (score, separator);
        }
    }
    match best {
        (Score { certain: 0, .. }, b',') if is_column_of_decimals(&lines(sample, b',')) => b'\t',
        (_, separator) => separator,
    }
}

fn score(lines: &[Line]) -> Score {
    let counts = lines.iter().map(|line| line.count).filter(|count| *count > 0);
    let same = |count: usize| lines.iter().filter(move |line| line.count == count);
    let Some(count) = counts.max_by_key(|count| (same(*count).count(), *count)) else {
        return Score::default();
    };
    let number = same(count).count();
    // A header shows what the separator is in the numbers below it.
    let has_header = same(count).next().is_some_and(|line| line.is_certain);
    let certain = same(count).filter(|line| line.is_certain).count();
    Score {
        certain: if has_header { number } else { certain },
        lines: number,
    }
}

/// Returns whether the commas are those of numbers in the only column: a line above them has none.
fn is_column_of_decimals(lines: &[Line]) -> bool {
    let Some(first) = lines.iter().position(|line| line.count > 0) else {
        return false;
    };
    let values = &lines[first..];
    let with_comma = values.iter().filter(|line| line.count > 0);
    first > 0 && with_comma.clone().all(|line| line.is_number) && with_comma.count() * 2 >= lines.len() - 1
}

/// The separators of a line that is not blank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Line {
    count: usize,
    /// Whether one of them is not a part of a number or a sentence.
    is_certain: bool,
    /// Whether all of them are parts of numbers.
    is_number: bool,
}

/// Returns the separators of each line that is not blank.
fn lines(sample: &str, separator: u8) -> Vec<Line> {
    let empty = Line {
        is_number: true,
        ..Line::default()
    };
    let bytes = sample.as_bytes();
    let mut lines = Vec::new();
    let (mut line, mut is_quoted, mut is_blank) = (empty, false, true);
    // A quote within a value, such as the mark of inches, has no meaning.
    let mut is_start = true;
    for (at, byte) in bytes.iter().copied().enumerate() {
        match byte {
            b'"' if is_quoted || is_start => is_quoted = !is_quoted,
            b'\r' | b'\n' if !is_quoted => {
                if !is_blank {
                    lines.push(line);
                }
                (line, is_blank, is_start) = (empty, true, true);
                continue;
            }
            byte if byte == separator && !is_quoted => {
                let is_number = byte == b',' && is_in_number(bytes, at);
                line.count += 1;
                line.is_number &= is_number;
                line.is_certain |= !is_number && !is_in_sentence(bytes, at);
                (is_blank, is_start) = (false, true);
                continue;
            }
            _ => {}
        }
        is_blank &= byte.is_ascii_whitespace();
        // A doubled quote within quotes ends and begins them.
        is_start = byte == b'"';
    }
    if !is_blank || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Returns whether a comma may be that of a decimal number, or separate thousands.
fn is_in_number(text: &[u8], at: usize) -> bool {
    let is_part = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'\'');
    // Rows of numbers are as long as one likes.
    let before = text[..at]
        .iter()
        .rev()
        .take(MAX_NUMBER_BYTES)
        .take_while(is_part)
        .count();
    let after = text[at..].iter().take(MAX_NUMBER_BYTES).take_while(is_part).count();
    let is_digit = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_digit);
    let mut groups = text[at - before..at + after].split(|byte| *byte == b',').skip(1);
    let is_single = groups.clone().count() == 1;
    let is_thousands = groups.all(|group| {
        group
            .split(|byte| *byte == b'.')
            .next()
            .is_some_and(|group| group.len() == 3)
    });
    is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)) && (is_single || is_thousands)
}

/// Returns whether a comma or semicolon may be that of a sentence: a space follows a letter or digit.
fn is_in_sentence(text: &[u8], at: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let follows_word = at.checked_sub(1).and_then(|at| text.get(at)).is_some_and(is_word);
    matches!(text[at], b',' | b';') && follows_word && text.get(at + 1) == Some(&b' ')
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
    fn commas_of_numbers_and_sentences_do_not_count_beside_a_separator() {
        check("a;b;c\n1,5;x;\n2,5;y\n3,5;z;;\n", b';');
        let notes = "Please note, dear customer, this\n".repeat(30);
        check(&format!("{notes}a;b\n1,5;x\n2,5;y\n"), b';');
        check("a;b\n1,000,000;x\n2,000,000;y\nz\n", b';');
        // They are all that there is, or the header shows that they separate.
        check("1,2\n3,4\n", b',');
        check("a, b\n1, 2\n", b',');
        check("x,y\n1,2\n3,4\n5,6\na;b|c\n", b',');
        check("1,2,3\n4,5,6\n7,8,9\na;b\nc;d\n", b',');
        check("Name;Lake\nDay;Monday\n\nx,y\n1,2\n3,4\n", b',');
    }

    #[test]
    fn a_column_of_decimal_numbers_is_one_column() {
        check("Preis\n-1.234,50\n-2,50\n", b'\t');
        check("Preis\n3,50 €\n", b'\t');
        check("Price\n1,234,567\n2,345\n", b'\t');
        check("Preis\n1,2,3\n4,5,6\n", b',');
        check("Preis\n3,50\na,b\n", b',');
        check("5,5\n", b',');
    }

    #[test]
    fn lines_may_end_as_on_the_classic_mac_os() {
        check("a,b\r1;x,2\r3;y,4\r", b',');
        check("\r\ra;b\r1,5;2\r", b';');
        let found = Dialect::detect("\rsep=;\ra;b\r");
        assert_eq!((found.separator, found.start), (b';', 7));
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
        check("sep=; \na;b", b';', "a;b");
        check("\"sep=;\" \r\na;b", b';', "a;b");
        check("sep=\\t\na\tb", b'\t', "a\tb");
        check("sep= \na b", b' ', "a b");
        check("sep=;", b';', "");
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
