//! [`JsonReader`]: reads the members of a JSON document one after the other.
//!
//! A reply consists of many small members. For these, a visitor of serde for each type is several times as much code as this
//! reader, which must be loaded into the processor for each reply, and takes several times as many instructions. Rare
//! cases are left to serde_json: lists and objects that are skipped, unusual numbers and escapes, and all errors.

mod scan;

use std::borrow::Cow;

use agcore_chat::Text;
use serde::{
    Deserialize,
    de::{Error as _, IgnoredAny, Unexpected},
};
use serde_json::{Error, Number, Result, Value};

use self::scan::{is_number_byte, plain_len, short_count, unescape};
use super::lenient::{LenientCount, NonEmptyText};

/// A cursor in a JSON document. After an error, it must not be used further.
///
/// Each method reads the next value. The lenient ones accept values of any type; what they cannot use counts as absent.
#[derive(Debug)]
pub(crate) struct JsonReader<'de> {
    text: &'de str,
    /// The position of the next byte.
    at: usize,
}

/// The progress within an object or a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// There is no object or list: the value is `null`, `""`, or empty and of the other kind.
    Absent,
    /// Nothing was read yet.
    First,
    /// The next entry follows a comma.
    Later,
}

impl<'de> JsonReader<'de> {
    /// Creates a reader at the beginning of a document, which must be UTF-8.
    pub(crate) fn from_bytes(bytes: &'de [u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|_| not_utf8(bytes))?;
        Ok(Self { text, at: 0 })
    }

    /// Begins an object, which is read with [`next_name`](Self::next_name). `expected` describes it, for errors.
    pub(crate) fn object(&mut self, expected: &str) -> Result<Progress> {
        self.begin(b'{', "[]", expected)
    }

    /// Begins a list, which is read with [`next_item`](Self::next_item). `expected` describes it, for errors.
    pub(crate) fn list(&mut self, expected: &str) -> Result<Progress> {
        self.begin(b'[', "{}", expected)
    }

    /// Returns the name of the next member of an object, whose value must be read then.
    pub(crate) fn next_name(&mut self, object: &mut Progress) -> Result<Option<Cow<'de, str>>> {
        match self.compact_name(object) {
            Some(name) => Ok(Some(Cow::Borrowed(name))),
            None => self.next_name_anyhow(object),
        }
    }

    /// Reads the name of the next member if it has the usual form: without spaces around it, and without escapes.
    #[inline]
    fn compact_name(&mut self, object: &mut Progress) -> Option<&'de str> {
        let bytes = self.text.as_bytes();
        let begin = match (*object, bytes.get(self.at..)?) {
            (Progress::First, [b'"', ..]) => self.at + 1,
            (Progress::Later, [b',', b'"', ..]) => self.at + 2,
            _ => return None,
        };
        let end = begin + plain_len(bytes.get(begin..)?);
        let [b'"', b':', ..] = bytes.get(end..)? else {
            return None;
        };
        *object = Progress::Later;
        self.at = end + 2;
        // Compiles to less than a range of both.
        self.text.split_at_checked(end)?.0.get(begin..)
    }

    #[inline(never)]
    fn next_name_anyhow(&mut self, object: &mut Progress) -> Result<Option<Cow<'de, str>>> {
        if !self.next_entry(object, b'}')? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.syntax_error());
        }
        let name = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.syntax_error());
        }
        self.at += 1;
        Ok(Some(name))
    }

    /// Returns whether a list has another item, which must be read then.
    pub(crate) fn next_item(&mut self, list: &mut Progress) -> Result<bool> {
        self.next_entry(list, b']')
    }

    /// Checks that nothing follows.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax_error()),
        }
    }

    /// Returns the first byte of the next value, or `None` at the end of the document.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) if *byte > b' ' => Some(*byte),
            _ => self.skip_space(),
        }
    }

    /// Reads text leniently, borrowed unless it has escapes. Values of other types become empty text.
    pub(crate) fn str(&mut self) -> Result<Cow<'de, str>> {
        match self.peek() {
            Some(b'"') => self.string(),
            _ => self.skip().map(|()| Cow::Borrowed("")),
        }
    }

    /// Reads text leniently, or `None` if it is empty. A number becomes its digits; values of other types become `None`.
    pub(crate) fn text(&mut self) -> Result<Option<Text>> {
        if self.peek() == Some(b'"') {
            let text = self.string()?;
            return Ok((!text.is_empty()).then(|| text.as_ref().into()));
        }
        let raw = self.raw()?;
        Ok(self.parse::<NonEmptyText>(raw)?.0)
    }

    /// Like [`text`](Self::text), but as a `String`.
    pub(crate) fn non_empty_string(&mut self) -> Result<Option<String>> {
        if self.peek() == Some(b'"') {
            let text = self.string()?;
            return Ok((!text.is_empty()).then(|| text.into_owned()));
        }
        Ok(self.text()?.map(|text| text.as_str().to_owned()))
    }

    /// Reads a count leniently. Text that contains a number is parsed; other values become `None`.
    pub(crate) fn count(&mut self) -> Result<Option<u64>> {
        self.peek();
        if let Some((count, len)) = short_count(self.rest()) {
            self.at += len;
            return Ok(Some(count));
        }
        let raw = self.raw()?;
        Ok(self.parse::<LenientCount>(raw)?.0)
    }

    /// Reads any value.
    pub(crate) fn value(&mut self) -> Result<Value> {
        let raw = self.raw()?;
        self.parse(raw)
    }

    /// Skips any value.
    pub(crate) fn skip(&mut self) -> Result<()> {
        self.raw().map(drop)
    }

    /// Reads any value as JSON text.
    pub(crate) fn raw(&mut self) -> Result<&'de str> {
        let first = self.peek();
        let begin = self.at;
        match first {
            Some(b'"') => {
                if self.plain_string().is_none() {
                    let raw = self.raw_string()?;
                    self.parse::<IgnoredAny>(raw)?;
                }
            }
            Some(b'{') => self.skip_container("}")?,
            Some(b'[') => self.skip_container("]")?,
            Some(b'n') => self.literal("null")?,
            Some(b't') => self.literal("true")?,
            Some(b'f') => self.literal("false")?,
            Some(byte) if is_number_byte(byte) => self.skip_number()?,
            _ => return Err(self.syntax_error()),
        }
        Ok(&self.text[begin..self.at])
    }

    /// Skips the next value if it is this list, object or text, which was read [as JSON text](Self::raw) before.
    pub(crate) fn skip_same(&mut self, raw: &str) -> bool {
        self.peek();
        // A number could be the beginning of a longer one.
        let is_same = raw.ends_with(['"', '}', ']']) && self.text[self.at..].starts_with(raw);
        if is_same {
            self.at += raw.len();
        }
        is_same
    }

    /// Returns the error for the next value, which is of a wrong type.
    #[cold]
    pub(crate) fn type_error(&mut self, expected: &str) -> Error {
        let position = self.at;
        let value = match self.value() {
            Ok(value) => value,
            Err(error) => return error,
        };
        let found = match &value {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(number) => number_kind(number),
            Value::String(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        };
        let before = &self.text[..position];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        let error = Error::invalid_type(found, &expected);
        Error::custom(format_args!("{error} at line {line} column {column}"))
    }

    fn begin(&mut self, open: u8, other: &str, expected: &str) -> Result<Progress> {
        let first = self.peek();
        if first == Some(open) {
            self.at += 1;
            return Ok(Progress::First);
        }
        let begin = self.at;
        let is_absent = first.is_some() && ["null", "\"\"", other].contains(&self.raw()?);
        if is_absent {
            return Ok(Progress::Absent);
        }
        self.at = begin;
        Err(self.type_error(expected))
    }

    /// Goes to the next entry. Returns whether there is one, and otherwise ends the object or list.
    #[inline]
    fn next_entry(&mut self, progress: &mut Progress, close: u8) -> Result<bool> {
        match (*progress, self.peek()) {
            (Progress::Absent, _) => Ok(false),
            (Progress::Later, Some(b',')) => {
                self.at += 1;
                if self.peek() == Some(close) {
                    return Err(self.syntax_error());
                }
                Ok(true)
            }
            (_, Some(byte)) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            (Progress::First, _) => {
                *progress = Progress::Later;
                Ok(true)
            }
            (Progress::Later, _) => Err(self.syntax_error()),
        }
    }

    fn skip_space(&mut self) -> Option<u8> {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        self.at += self.rest().iter().take_while(|byte| is_space(byte)).count();
        self.rest().first().copied()
    }

    /// Returns the bytes that are not read yet.
    fn rest(&self) -> &'de [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn skip_number(&mut self) -> Result<()> {
        if let Some((_, len)) = short_count(self.rest()) {
            self.at += len;
            return Ok(());
        }
        let begin = self.at;
        self.at += self.rest().iter().take_while(|byte| is_number_byte(**byte)).count();
        self.parse::<IgnoredAny>(&self.text[begin..self.at]).map(drop)
    }

    fn literal(&mut self, literal: &str) -> Result<()> {
        if !self.text[self.at..].starts_with(literal) {
            return Err(self.syntax_error());
        }
        self.at += literal.len();
        Ok(())
    }

    /// Reads a string; the next byte is its first quote.
    #[inline]
    fn string(&mut self) -> Result<Cow<'de, str>> {
        match self.plain_string() {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => self.escaped_string().map(Cow::Owned),
        }
    }

    /// Reads a string without escapes, or nothing if it has any.
    #[inline]
    fn plain_string(&mut self) -> Option<&'de str> {
        let begin = self.at + 1;
        let bytes = self.text.as_bytes();
        let end = begin + plain_len(bytes.get(begin..)?);
        if *bytes.get(end)? != b'"' {
            return None;
        }
        self.at = end + 1;
        self.text.get(begin..end)
    }

    #[inline(never)]
    fn escaped_string(&mut self) -> Result<String> {
        let raw = self.raw_string()?;
        let contents = &raw[1..raw.len() - 1];
        unescape(contents).map_or_else(|| self.parse(raw), Ok)
    }

    /// Reads a string with its quotes. Its escapes are not checked.
    fn raw_string(&mut self) -> Result<&'de str> {
        let begin = self.at;
        self.at += 1;
        loop {
            self.at += plain_len(self.rest());
            match self.rest().first() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                // A control character, or the end of the document.
                _ => return Err(self.syntax_error()),
            }
        }
        self.at += 1;
        Ok(&self.text[begin..self.at])
    }

    /// Skips a list or an object that ends in `close`.
    fn skip_container(&mut self, close: &str) -> Result<()> {
        // Most of those that are skipped are empty.
        if self.text[self.at + 1..].starts_with(close) {
            self.at += 2;
            return Ok(());
        }
        let mut values = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter::<IgnoredAny>();
        let value = values.next();
        self.at += values.byte_offset();
        match value {
            Some(Ok(_)) => Ok(()),
            _ => Err(self.syntax_error()),
        }
    }

    /// Parses a part of the document that was read [as JSON text](Self::raw).
    pub(crate) fn parse<T: Deserialize<'de>>(&self, raw: &'de str) -> Result<T> {
        serde_json::from_str(raw).map_err(|_| self.syntax_error())
    }

    /// Returns the error of serde_json about the document, which has the position in it.
    #[cold]
    fn syntax_error(&self) -> Error {
        let parsed = serde_json::from_str::<Value>(self.text);
        parsed.err().unwrap_or_else(|| Error::custom("it is not valid JSON"))
    }
}

/// Returns the error of serde_json about a document that is not UTF-8, which has the position in it.
#[cold]
fn not_utf8(bytes: &[u8]) -> Error {
    let parsed = serde_json::from_slice::<Value>(bytes);
    parsed.err().unwrap_or_else(|| Error::custom("it is not UTF-8"))
}

fn number_kind(number: &Number) -> Unexpected<'static> {
    match (number.as_u64(), number.as_i64()) {
        (Some(number), _) => Unexpected::Unsigned(number),
        (None, Some(number)) => Unexpected::Signed(number),
        (None, None) => Unexpected::Float(number.as_f64().unwrap_or_default()),
    }
}

impl Progress {
    pub(crate) fn is_absent(self) -> bool {
        self == Self::Absent
    }
}

#[cfg(test)]
mod tests;
