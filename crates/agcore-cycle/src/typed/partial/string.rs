//! [`StringReader`]: parses the content of a JSON string incrementally.

/// The position within a string.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StringReader {
    escape: Escape,
    /// The high surrogate of a code point that is written as two escapes.
    high: Option<u16>,
}

#[derive(Debug, Clone, Copy, Default)]
enum Escape {
    #[default]
    None,
    /// After the backslash.
    Started,
    /// After `\u`: the number of digits, and their value so far.
    Hex(u8, u16),
}

/// The result of parsing a piece of a string.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Incomplete,
    Complete,
    Invalid,
}

impl StringReader {
    /// Appends the content up to the end of the string to `out`. Returns how many bytes were parsed.
    pub(super) fn read(&mut self, text: &str, out: &mut String) -> (usize, Progress) {
        let mut at = 0;
        while at < text.len() {
            let byte = text.as_bytes()[at];
            let progress = match self.escape {
                Escape::None => {
                    let plain = text[at..]
                        .bytes()
                        .take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20))
                        .count();
                    if plain > 0 {
                        if self.high.is_some() {
                            return (at, Progress::Invalid);
                        }
                        out.push_str(&text[at..at + plain]);
                        at += plain;
                        continue;
                    }
                    self.delimiter(byte)
                }
                Escape::Started => self.escaped(byte, out),
                Escape::Hex(digits, value) => self.digit(byte, digits, value, out),
            };
            match progress {
                Progress::Invalid => return (at, Progress::Invalid),
                Progress::Complete => return (at + 1, Progress::Complete),
                Progress::Incomplete => at += 1,
            }
        }
        (at, Progress::Incomplete)
    }

    /// Parses a quotation mark, a backslash, or a character that is not allowed in a string.
    fn delimiter(&mut self, byte: u8) -> Progress {
        match byte {
            b'\\' => {
                self.escape = Escape::Started;
                Progress::Incomplete
            }
            b'"' if self.high.is_none() => Progress::Complete,
            _ => Progress::Invalid,
        }
    }

    fn escaped(&mut self, byte: u8, out: &mut String) -> Progress {
        if byte == b'u' {
            self.escape = Escape::Hex(0, 0);
            return Progress::Incomplete;
        }
        let character = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            _ => return Progress::Invalid,
        };
        if self.high.is_some() {
            return Progress::Invalid;
        }
        out.push(character);
        self.escape = Escape::None;
        Progress::Incomplete
    }

    fn digit(&mut self, byte: u8, digits: u8, value: u16, out: &mut String) -> Progress {
        let Some(digit) = char::from(byte)
            .to_digit(16)
            .and_then(|digit| u16::try_from(digit).ok())
        else {
            return Progress::Invalid;
        };
        let value = value << 4 | digit;
        if digits < 3 {
            self.escape = Escape::Hex(digits + 1, value);
            return Progress::Incomplete;
        }
        self.escape = Escape::None;
        let units = match self.high.take() {
            None if (0xD800..0xDC00).contains(&value) => {
                self.high = Some(value);
                return Progress::Incomplete;
            }
            None => [Some(value), None],
            Some(high) => [Some(high), Some(value)],
        };
        match char::decode_utf16(units.into_iter().flatten()).next() {
            Some(Ok(character)) => {
                out.push(character);
                Progress::Incomplete
            }
            _ => Progress::Invalid,
        }
    }
}
