//! [`Lexer`]: the words of a CMap, which is a small PostScript program.

/// A word of a CMap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Token<'a> {
    /// The bytes of a text in `<>` or `()`.
    Bytes(Vec<u8>),
    Number(u32),
    /// A name after `/`.
    Name(&'a [u8]),
    ArrayStart,
    ArrayEnd,
    /// Everything else.
    Word(&'a [u8]),
}

/// Reads words. White space between them is not needed where a delimiter separates them, and nothing is an error.
#[derive(Debug)]
pub(in super::super) struct Lexer<'a> {
    rest: &'a [u8],
}

impl<'a> Lexer<'a> {
    pub(in super::super) fn new(content: &'a [u8]) -> Self {
        Self { rest: content }
    }

    /// Takes bytes from the beginning as long as they fulfil a condition.
    fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self
            .rest
            .iter()
            .position(|byte| !keep(*byte))
            .unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn hex_text(&mut self) -> Token<'a> {
        let inner = self.take_while(|byte| byte != b'>');
        self.rest = self.rest.get(1..).unwrap_or_default();
        let digits: Vec<u8> = inner
            .iter()
            .filter_map(|byte| char::from(*byte).to_digit(16))
            .map(|digit| digit as u8)
            .collect();
        // Some programs leave out zeros at the beginning.
        let (first, pairs) = digits.split_at(digits.len() % 2);
        let pairs = pairs
            .chunks_exact(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit));
        Token::Bytes(first.iter().copied().chain(pairs).collect())
    }

    fn literal_text(&mut self) -> Token<'a> {
        let (mut depth, mut is_escaped, mut bytes) = (1_usize, false, Vec::new());
        while let Some((byte, rest)) = self.rest.split_first() {
            self.rest = rest;
            match byte {
                b'\\' if !is_escaped => {
                    is_escaped = true;
                    continue;
                }
                b'(' if !is_escaped => depth += 1,
                b')' if !is_escaped => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            is_escaped = false;
            bytes.push(*byte);
        }
        Token::Bytes(bytes)
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (first, rest) = self.rest.split_first()?;
            if !is_delimiter(*first) {
                let word = self.take_while(|byte| !is_delimiter(byte) && !is_white(byte));
                let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
                return Some(number.map_or(Token::Word(word), Token::Number));
            }
            self.rest = rest;
            match first {
                b'%' => drop(self.take_while(|byte| byte != b'\n' && byte != b'\r')),
                b'/' => {
                    return Some(Token::Name(
                        self.take_while(|byte| !is_delimiter(byte) && !is_white(byte)),
                    ));
                }
                b'[' => return Some(Token::ArrayStart),
                b']' => return Some(Token::ArrayEnd),
                // Two open a dictionary, whose members are words like all others.
                b'<' if rest.first() == Some(&b'<') => self.rest = rest.get(1..).unwrap_or_default(),
                b'<' => return Some(self.hex_text()),
                b'(' => return Some(self.literal_text()),
                _ => {}
            }
        }
    }
}

fn is_white(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0
}

/// White space is a delimiter, too: it is skipped where a word can begin.
fn is_delimiter(byte: u8) -> bool {
    is_white(byte)
        || matches!(
            byte,
            b'%' | b'/' | b'[' | b']' | b'<' | b'>' | b'(' | b')' | b'{' | b'}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_need_no_space_between_them() {
        let bytes = |bytes: &[u8]| Token::Bytes(bytes.to_vec());
        let found: Vec<Token<'_>> =
            Lexer::new(b"1begin 2 beginbfchar<01><00 4 8>[<041>]/N<>(a\\)(b))<</K 5>>%no\nend").collect();
        let expected = [
            Token::Word(b"1begin"),
            Token::Number(2),
            Token::Word(b"beginbfchar"),
            bytes(&[1]),
            bytes(&[0, 0x48]),
            Token::ArrayStart,
            bytes(&[0, 0x41]),
            Token::ArrayEnd,
            Token::Name(b"N"),
            bytes(&[]),
            bytes(b"a)(b)"),
            Token::Name(b"K"),
            Token::Number(5),
            Token::Word(b"end"),
        ];
        assert_eq!(found, expected);
        assert_eq!(Lexer::new(b"<41").collect::<Vec<_>>(), [bytes(&[0x41])]);
        assert_eq!(Lexer::new(b"(41").collect::<Vec<_>>(), [bytes(b"41")]);
    }
}
