//! Printing of values: strings and numbers as they are, nothing for null, arrays and objects as JSON.

use std::{convert::Infallible, fmt};

use super::{
    data::{Data, View},
    tree::Value,
};

/// The depth up to which values are printed recursively, which needs no allocation.
const MAX_RECURSION: usize = 64;

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
    print_at(view, 0, out)
}

/// Prints a value with this number of containers around it.
fn print_at<'v, S: TextSink>(view: View<'v, impl Data<'v>>, depth: usize, out: &mut S) -> Result<(), S::Error> {
    match view {
        View::Null => out.text("null"),
        View::Bool(flag) => out.text(if flag { "true" } else { "false" }),
        View::Integer(number) => out.text(itoa::Buffer::new().format(number)),
        View::Unsigned(number) => out.text(itoa::Buffer::new().format(number)),
        View::Float(number) if number.is_finite() => out.text(zmij::Buffer::new().format_finite(number)),
        // JSON cannot represent infinities and NaN.
        View::Float(_) => out.text("null"),
        View::Text(text) => quoted(text, out),
        View::Array(array) if depth < MAX_RECURSION => container(array.parts(), ["[", "]"], depth, out),
        View::Object(object) if depth < MAX_RECURSION => container(object.parts(), ["{", "}"], depth, out),
        deep => print_deep(deep, out),
    }
}

/// Prints a value of any depth without recursion, for which it allocates a stack.
#[cold]
fn print_deep<'v, S: TextSink>(root: View<'v, impl Data<'v>>, out: &mut S) -> Result<(), S::Error> {
    let mut open = Vec::new();
    let mut next = Some(root);
    loop {
        match next.take() {
            Some(View::Array(array)) => {
                out.text("[")?;
                open.push((array.parts().enumerate(), "]"));
            }
            Some(View::Object(object)) => {
                out.text("{")?;
                open.push((object.parts().enumerate(), "}"));
            }
            Some(scalar) => print_at(scalar, 0, out)?,
            None => {}
        }
        let Some((parts, close)) = open.last_mut() else {
            return Ok(());
        };
        if let Some((at, (name, part))) = parts.next() {
            separator(at, name, out)?;
            next = Some(part.view());
        } else {
            out.text(close)?;
            open.pop();
        }
    }
}

fn container<'v, D: Data<'v>, S: TextSink>(
    parts: impl Iterator<Item = (Option<&'v str>, D)>,
    [open, close]: [&str; 2],
    depth: usize,
    out: &mut S,
) -> Result<(), S::Error> {
    out.text(open)?;
    for (at, (name, part)) in parts.enumerate() {
        separator(at, name, out)?;
        print_at(part.view(), depth + 1, out)?;
    }
    out.text(close)
}

/// Prints the separator of two elements, and the name of a field.
fn separator<S: TextSink>(at: usize, name: Option<&str>, out: &mut S) -> Result<(), S::Error> {
    if at > 0 {
        out.text(",")?;
    }
    if let Some(name) = name {
        quoted(name, out)?;
        out.text(":")?;
    }
    Ok(())
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
