//! Printing of values: strings and numbers as they are, nothing for null, arrays and objects as JSON.

use std::{convert::Infallible, fmt};

use super::{
    data::{Data, View},
    tree::Value,
};

/// A destination for printed text.
pub(crate) trait TextSink {
    /// The error of a failed write.
    type Error;

    /// Writes a piece of text.
    fn text(&mut self, text: &str) -> Result<(), Self::Error>;
}

/// Prints a value as a template does.
#[inline]
pub(crate) fn print<'v, S: TextSink>(view: View<'v, impl Data<'v>>, out: &mut S) -> Result<(), S::Error> {
    match view {
        View::Text(text) => out.text(text),
        View::Null => Ok(()),
        View::Float(number) if !number.is_finite() => Ok(()),
        other => print_json(other, out),
    }
}

/// Prints a value as compact JSON.
pub(crate) fn print_json<'v, S: TextSink>(view: View<'v, impl Data<'v>>, out: &mut S) -> Result<(), S::Error> {
    match view {
        View::Null => out.text("null"),
        View::Bool(flag) => out.text(if flag { "true" } else { "false" }),
        View::Integer(number) => out.text(itoa::Buffer::new().format(number)),
        View::Unsigned(number) => out.text(itoa::Buffer::new().format(number)),
        View::Float(number) if number.is_finite() => out.text(zmij::Buffer::new().format_finite(number)),
        // JSON cannot represent infinities and NaN.
        View::Float(_) => out.text("null"),
        View::Text(text) => quoted(text, out),
        View::Array(array) => container(array.parts(), ["[", "]"], out),
        View::Object(object) => container(object.parts(), ["{", "}"], out),
    }
}

fn container<'v, D: Data<'v>, S: TextSink>(
    parts: impl Iterator<Item = (Option<&'v str>, D)>,
    [open, close]: [&str; 2],
    out: &mut S,
) -> Result<(), S::Error> {
    out.text(open)?;
    for (at, (name, part)) in parts.enumerate() {
        if at > 0 {
            out.text(",")?;
        }
        if let Some(name) = name {
            quoted(name, out)?;
            out.text(":")?;
        }
        print_json(part.view(), out)?;
    }
    out.text(close)
}

fn quoted<S: TextSink>(text: &str, out: &mut S) -> Result<(), S::Error> {
    out.text("\"")?;
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0C => "\\f",
            0..0x20 => "",
            _ => continue,
        };
        out.text(&text[plain..at])?;
        plain = at + 1;
        match escape {
            "" => out.text(&format!("\\u{byte:04x}"))?,
            short => out.text(short)?,
        }
    }
    out.text(&text[plain..])?;
    out.text("\"")
}

impl TextSink for String {
    type Error = Infallible;

    fn text(&mut self, text: &str) -> Result<(), Infallible> {
        self.push_str(text);
        Ok(())
    }
}

impl TextSink for fmt::Formatter<'_> {
    type Error = fmt::Error;

    fn text(&mut self, text: &str) -> fmt::Result {
        self.write_str(text)
    }
}

/// Prints the value as a template does.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self.view(), f)
    }
}
