//! [`StringReader`]: the inside of a JSON string, piece by piece.

/// Where in a string the reading stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StringReader {
    escape: Escape,
    /// The first half of a character that is written as two escapes.
    high: Option<u16>,
}

#[derive(Debug, Clone, Copy, Default)]
enum Escape {
    #[default]
    None,
    /// The character after the backslash.
    Begun,
    /// So many digits after `\u`, and what they say so far.
    Hex(u8, u16),
}

/// How far a piece brought the string.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    More,
    Whole,
    Broken,
}

impl StringReader {
    /// Reads up to the string's end into `out`. Gives how many bytes were read.
    pub(super) fn read(&mut self, text: &str, out: &mut String) -> (usize, Read) {
        let mut at = 0;
        while at < text.len() {
            let byte = text.as_bytes()[at];
            let how = match self.escape {
                Escape::None => {
                    let plain = text[at..]
                        .bytes()
                        .take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20))
                        .count();
                    if plain > 0 {
                        if self.high.is_some() {
                            return (at, Read::Broken);
                        }
                        out.push_str(&text[at..at + plain]);
                        at += plain;
                        continue;
                    }
                    self.mark(byte)
                }
                Escape::Begun => self.escaped(byte, out),
                Escape::Hex(digits, value) => self.digit(byte, digits, value, out),
            };
            match how {
                Read::Broken => return (at, Read::Broken),
                Read::Whole => return (at + 1, Read::Whole),
                Read::More => at += 1,
            }
        }
        (at, Read::More)
    }

    /// A quotation mark, a backslash, or what may not stand in a string.
    fn mark(&mut self, byte: u8) -> Read {
        match byte {
            b'\\' => {
                self.escape = Escape::Begun;
                Read::More
            }
            b'"' if self.high.is_none() => Read::Whole,
            _ => Read::Broken,
        }
    }

    fn escaped(&mut self, byte: u8, out: &mut String) -> Read {
        if byte == b'u' {
            self.escape = Escape::Hex(0, 0);
            return Read::More;
        }
        let letter = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            _ => return Read::Broken,
        };
        if self.high.is_some() {
            return Read::Broken;
        }
        out.push(letter);
        self.escape = Escape::None;
        Read::More
    }

    fn digit(&mut self, byte: u8, digits: u8, value: u16, out: &mut String) -> Read {
        let Some(digit) = char::from(byte)
            .to_digit(16)
            .and_then(|digit| u16::try_from(digit).ok())
        else {
            return Read::Broken;
        };
        let value = value << 4 | digit;
        if digits < 3 {
            self.escape = Escape::Hex(digits + 1, value);
            return Read::More;
        }
        self.escape = Escape::None;
        let units = match self.high.take() {
            None if (0xD800..0xDC00).contains(&value) => {
                self.high = Some(value);
                return Read::More;
            }
            None => [Some(value), None],
            Some(high) => [Some(high), Some(value)],
        };
        match char::decode_utf16(units.into_iter().flatten()).next() {
            Some(Ok(letter)) => {
                out.push(letter);
                Read::More
            }
            _ => Read::Broken,
        }
    }
}
