//! [`CMap`]: a table in a file that translates codes to characters or to glyphs.

mod lexer;

use std::{borrow::Cow, collections::HashMap, iter::Peekable};

pub(super) use self::lexer::{Lexer, Token};
use super::{bytes::number_of, glyph_names, predefined::Predefined};

/// The longest code in bytes.
const MAX_CODE_BYTES: usize = 4;

/// The number of codespaces that are kept: each is compared with each code.
const MAX_CODESPACES: usize = 100;

/// The number of overlapping ranges that are inspected for a code.
const MAX_OVERLAPS: usize = 16;

/// Codes that belong together: those of the same length whose bytes are all between those of two codes.
#[derive(Debug)]
struct Codespace {
    low: Vec<u8>,
    high: Vec<u8>,
}

/// Neighbouring codes with neighbouring values.
#[derive(Debug)]
struct Range<T> {
    low: u32,
    high: u32,
    first: T,
}

/// A table that translates codes to characters (`bf`) or to the numbers of glyphs (`cid`).
///
/// The length of codes only matters to [`CMap::code_length`]: files often have codes of other lengths than they declare.
#[derive(Debug, Default)]
pub(super) struct CMap {
    codespaces: Vec<Codespace>,
    characters: HashMap<u32, Box<str>>,
    character_ranges: Vec<Range<Box<str>>>,
    cids: HashMap<u32, u32>,
    cid_ranges: Vec<Range<u32>>,
    /// The predefined table that this one extends.
    base: Option<Predefined>,
    is_vertical: bool,
}

impl CMap {
    /// Reads a table. Unknown parts are skipped.
    pub(super) fn parse(content: &[u8]) -> Self {
        let mut map = Self::default();
        let mut words = Lexer::new(content).peekable();
        let (mut before, mut last) = (None, None);
        while let Some(token) = words.next() {
            if let Token::Word(word) = token {
                match (&before, &last) {
                    (_, Some(Token::Name(name))) if word.ends_with(b"usecmap") => map.extend(name),
                    (Some(Token::Name(b"WMode")), Some(Token::Number(mode))) => map.is_vertical = *mode == 1,
                    _ => map.read_section(word, &mut words),
                }
            }
            before = last.replace(token);
        }
        // The order is stable: of ranges with the same beginning, the last one counts.
        map.character_ranges.sort_by_key(|range| range.low);
        map.cid_ranges.sort_by_key(|range| range.low);
        map
    }

    /// Makes this table an extension of a predefined one, if that is known.
    pub(super) fn extend(&mut self, name: &[u8]) {
        let base = std::str::from_utf8(name).ok().and_then(Predefined::named);
        self.is_vertical |= base.is_some_and(Predefined::is_vertical);
        self.base = base.or(self.base);
    }

    pub(super) fn is_vertical(&self) -> bool {
        self.is_vertical
    }

    /// Returns the number of entries, a measure of the memory that the table needs.
    pub(super) fn len(&self) -> usize {
        self.codespaces.len()
            + self.characters.len()
            + self.character_ranges.len()
            + self.cids.len()
            + self.cid_ranges.len()
    }

    /// Returns the characters of a code, if the table has any.
    pub(super) fn characters(&self, code: u32) -> Option<Cow<'_, str>> {
        if let Some(found) = self.characters.get(&code) {
            return Some(Cow::Borrowed(found));
        }
        if let Some(range) = find(&self.character_ranges, code) {
            return following(&range.first, code - range.low);
        }
        // Some programs write characters as numbers.
        let number = self.own_cid(code).and_then(char::from_u32);
        number.map(|char| Cow::Owned(char.into()))
    }

    /// Returns the code of a space.
    pub(super) fn space(&self) -> Option<u32> {
        let mut characters = self.characters.iter();
        let single = characters.find(|(_, text)| &***text == " ").map(|(code, _)| *code);
        let in_range = || {
            self.character_ranges.iter().find_map(|range| {
                let mut chars = range.first.chars();
                let offset = 0x20_u32.checked_sub(u32::from(chars.next()?))?;
                let code = range.low.checked_add(offset)?;
                (chars.next().is_none() && code <= range.high).then_some(code)
            })
        };
        single.or_else(in_range)
    }

    /// Returns the predefined table that this one extends.
    pub(super) fn base(&self) -> Option<Predefined> {
        self.base
    }

    /// Returns the number of the glyph of a code.
    pub(super) fn cid(&self, code: u32, bytes: &[u8]) -> Option<u32> {
        self.own_cid(code).or_else(|| self.base?.cid(bytes))
    }

    /// Returns the length of the code at the beginning of bytes, or `None` if the table does not say it.
    pub(super) fn code_length(&self, bytes: &[u8]) -> Option<usize> {
        let contains = |space: &&Codespace| {
            let mut limits = space.low.iter().zip(&space.high).zip(bytes);
            bytes.len() >= space.low.len() && limits.all(|((low, high), byte)| (low..=high).contains(&byte))
        };
        let found = self
            .codespaces
            .iter()
            .filter(contains)
            .map(|space| space.low.len())
            .min();
        // Undefined codes are as long as the shortest that are defined.
        let shortest = || self.codespaces.iter().map(|space| space.low.len()).min();
        found.or_else(|| Some(self.base?.code_length(bytes))).or_else(shortest)
    }

    fn own_cid(&self, code: u32) -> Option<u32> {
        let of_range = || find(&self.cid_ranges, code).and_then(|range| range.first.checked_add(code - range.low));
        self.cids.get(&code).copied().or_else(of_range)
    }

    /// Reads what follows a word that begins a section. The number before the word and the word at the end are not needed.
    fn read_section(&mut self, word: &[u8], words: &mut Words<'_>) {
        if word.ends_with(b"begincodespacerange") {
            self.read_codespaces(words);
        } else if word.ends_with(b"beginbfchar") {
            while let (Some(code), Some(value)) = (code(words), value(words)) {
                self.characters.insert(code, value.text().into());
            }
        } else if word.ends_with(b"beginbfrange") {
            while let (Some(low), Some(high), Some(value)) = (code(words), code(words), value(words)) {
                self.add_range(low, high, value);
            }
        } else if word.ends_with(b"begincidchar") {
            while let (Some(code), Some(value)) = (code(words), value(words)) {
                self.cids.insert(code, value.number());
            }
        } else if word.ends_with(b"begincidrange") {
            while let (Some(low), Some(high), Some(value)) = (code(words), code(words), value(words)) {
                let first = value.number();
                self.cid_ranges.push(Range { low, high, first });
            }
        }
    }

    fn read_codespaces(&mut self, words: &mut Words<'_>) {
        while let (Some(Token::Bytes(low)), Some(Token::Bytes(high))) = (operand(words), operand(words)) {
            let has_room = self.codespaces.len() < MAX_CODESPACES;
            if has_room && low.len() == high.len() && (1..=MAX_CODE_BYTES).contains(&low.len()) {
                self.codespaces.push(Codespace { low, high });
            }
        }
    }

    fn add_range(&mut self, low: u32, high: u32, value: Value) {
        match value {
            Value::List(texts) => {
                let codes = (low..=high).zip(texts);
                self.characters.extend(codes.map(|(code, text)| (code, text.into())));
            }
            value => self.character_ranges.push(Range {
                low,
                high,
                first: value.text().into(),
            }),
        }
    }
}

type Words<'a> = Peekable<Lexer<'a>>;

/// The value of a code.
#[derive(Debug)]
enum Value {
    Text(String),
    Number(u32),
    List(Vec<String>),
}

impl Value {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => char::from_u32(number).map(String::from).unwrap_or_default(),
            Self::List(texts) => texts.concat(),
        }
    }

    fn number(self) -> u32 {
        match self {
            Self::Number(number) => number,
            Self::Text(_) | Self::List(_) => 0,
        }
    }
}

/// Returns the next word of a section, which ends before a word that is neither a text, a number nor a name.
fn operand<'a>(words: &mut Words<'a>) -> Option<Token<'a>> {
    words.next_if(|token| !matches!(token, Token::Word(_)))
}

fn code(words: &mut Words<'_>) -> Option<u32> {
    match operand(words)? {
        Token::Bytes(bytes) => Some(number_of(&bytes)),
        Token::Number(number) => Some(number),
        _ => None,
    }
}

fn value(words: &mut Words<'_>) -> Option<Value> {
    match operand(words)? {
        Token::Bytes(bytes) => Some(Value::Text(text_of(&bytes))),
        Token::Number(number) => Some(Value::Number(number)),
        Token::Name(name) => {
            let name = String::from_utf8_lossy(name);
            Some(Value::Text(glyph_names::characters(&name).unwrap_or_default()))
        }
        Token::ArrayStart => {
            let mut texts = Vec::new();
            while let Some(value) = value(words).filter(|value| !matches!(value, Value::List(_))) {
                texts.push(value.text());
            }
            Some(Value::List(texts))
        }
        Token::ArrayEnd | Token::Word(_) => None,
    }
}

/// Decodes UTF-16. A single byte is a character of its own.
fn text_of(bytes: &[u8]) -> String {
    let (first, pairs) = bytes.split_at(bytes.len() % 2);
    let first = first.iter().map(|byte| u16::from(*byte));
    let pairs = pairs
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |unit, byte| unit << 8 | u16::from(*byte)));
    let units: Vec<u16> = first.chain(pairs).collect();
    String::from_utf16_lossy(&units)
}

/// Returns the range with a code. Of several, the one that begins last counts.
fn find<T>(ranges: &[Range<T>], code: u32) -> Option<&Range<T>> {
    let end = ranges.partition_point(|range| range.low <= code);
    let before = ranges.get(..end).unwrap_or_default();
    before.iter().rev().take(MAX_OVERLAPS).find(|range| code <= range.high)
}

/// Returns the text whose last character is `offset` characters later.
fn following(text: &str, offset: u32) -> Option<Cow<'_, str>> {
    let mut chars = text.chars();
    let Some(last) = chars.next_back().filter(|_| offset > 0) else {
        return Some(Cow::Borrowed(text));
    };
    let last = char::from_u32(u32::from(last).checked_add(offset)?)?;
    Some(Cow::Owned(chars.chain([last]).collect()))
}
