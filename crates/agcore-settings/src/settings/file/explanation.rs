//! Explains an error in a settings file: which setting is wrong, what it must be, and what it is.

use std::ops::Range;

use agcore::chat::text::{alternatives, suggestion};
use toml::de::{DeTable, DeValue};

use crate::mistake::{Mistake, is_word, text_in_words};

/// The longest name that is quoted.
pub(crate) const MAX_NAME: usize = 40;

/// Returns the message for an error in a text, without its location.
pub(crate) fn explain(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    // Text that is not TOML has no settings yet, and the parser explains it well.
    let Some(root) = DeTable::parse(text).ok() else {
        return message.to_owned();
    };
    let place = error.span().and_then(|span| Place::find(root.get_ref(), &span));
    let name = place.as_ref().map(Place::name).filter(|name| !name.is_empty());
    let prefix = name.as_ref().map(|name| format!("`{name}`: ")).unwrap_or_default();
    match Mistake::of(message) {
        Mistake::Value { expected } => {
            let found = place.as_ref().and_then(Place::found);
            let hint = place
                .as_ref()
                .and_then(|place| place.hint(&expected))
                .unwrap_or_default();
            let found = found.map(|found| format!(", found {found}")).unwrap_or_default();
            format!("{prefix}expected {expected}{found}{hint}")
        }
        Mistake::Choice { given, known } => {
            let found = place
                .as_ref()
                .filter(|place| !place.value.is_str())
                .and_then(Place::found);
            let found = found.unwrap_or_else(|| text_in_words(given) + &suggestion(given, &known));
            format!("{prefix}expected {}, found {found}", alternatives(&known))
        }
        Mistake::Name { given, known } => {
            let shown = Some(given).filter(|name| is_word(name, MAX_NAME));
            let shown = shown.map(|name| format!(" `{name}`")).unwrap_or_default();
            let table = place.as_ref().and_then(Place::parent);
            let table = table.map(|table| format!(" in {table}")).unwrap_or_default();
            format!(
                "unknown setting{shown}{table}; its settings are {}{}",
                known.join(", "),
                suggestion(given, &known)
            )
        }
        Mistake::Missing(name) => match place.as_ref().and_then(Place::table) {
            Some(table) => format!("{table} lacks the setting `{name}`"),
            None => format!("the setting `{name}` is missing"),
        },
        Mistake::Other(message) => format!("{prefix}{message}"),
    }
}

/// A value or a name in a settings file.
struct Place<'t> {
    /// The names of the tables around it, and its own.
    path: Vec<&'t str>,
    /// The value. For a name, the value that belongs to it.
    value: &'t DeValue<'t>,
    /// Whether the table around it is one of several in a list: `[[hooks.Stop]]`.
    is_in_list: bool,
    span: Range<usize>,
}

impl<'t> Place<'t> {
    /// Returns the smallest place that contains the beginning of a span, preferably one with just this span.
    fn find(root: &'t DeTable<'t>, wanted: &Range<usize>) -> Option<Self> {
        let mut places = Vec::new();
        collect(root, &[], false, &mut places);
        places.retain(|place| place.span.contains(&wanted.start));
        // Tables may have the same span: `[a.b]` is that of both. The last one is the innermost.
        places
            .into_iter()
            .rev()
            .min_by_key(|place| (place.span != *wanted, place.span.len()))
    }

    fn name(&self) -> String {
        joined(&self.path)
    }

    /// Returns the table with these settings: `[timeouts]`.
    fn table(&self) -> Option<String> {
        in_brackets(&self.path, self.value.is_array() || self.is_in_list)
    }

    /// Returns the table around this setting.
    fn parent(&self) -> Option<String> {
        let (_, tables) = self.path.split_last()?;
        in_brackets(tables, self.is_in_list)
    }

    /// Describes the value. Variables and headers of MCP servers may be keys, even if they look like numbers.
    fn found(&self) -> Option<String> {
        let is_secret = ["mcp", "api_key"].contains(self.path.first()?);
        Some(match self.value {
            DeValue::String(_) if is_secret => "a text".to_owned(),
            DeValue::Integer(_) | DeValue::Float(_) if is_secret => "a number".to_owned(),
            DeValue::String(text) => text_in_words(text),
            DeValue::Integer(number) if is_word(number.as_str(), MAX_NAME) => {
                let prefix = match number.radix() {
                    2 => "0b",
                    8 => "0o",
                    16 => "0x",
                    _ => "",
                };
                format!("the number {prefix}{}", number.as_str())
            }
            DeValue::Float(number) if is_word(number.as_str(), MAX_NAME) => format!("the number {}", number.as_str()),
            DeValue::Integer(_) | DeValue::Float(_) => "a number".to_owned(),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(_) => "a date or time".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        })
    }

    /// Returns how to write what was probably meant, unless that would quote a hidden name.
    fn hint(&self, expected: &str) -> Option<String> {
        if !self.path.iter().all(|name| is_word(name, MAX_NAME)) {
            return None;
        }
        let found = self.found()?;
        match (expected, self.value) {
            ("a list", _) if self.path.first() == Some(&"hooks") => {
                in_brackets(&self.path, true).map(|table| format!("; begin each with {table}"))
            }
            ("a list", DeValue::String(text)) if found.contains('"') => Some(format!("; write [\"{text}\"]")),
            ("a list", DeValue::String(_)) => Some("; write it in brackets".to_owned()),
            ("a table", value) if !value.is_table() => self.table().map(|table| format!("; begin it with {table}")),
            _ => None,
        }
    }
}

fn collect<'t>(table: &'t DeTable<'t>, path: &[&'t str], is_in_list: bool, places: &mut Vec<Place<'t>>) {
    for (name, value) in table {
        let path = [path, &[name.get_ref().as_ref()]].concat();
        for span in [value.span(), name.span()] {
            places.push(Place {
                path: path.clone(),
                value: value.get_ref(),
                is_in_list,
                span,
            });
        }
        match value.get_ref() {
            DeValue::Table(table) => collect(table, &path, false, places),
            DeValue::Array(items) => {
                for item in items {
                    places.push(Place {
                        path: path.clone(),
                        value: item.get_ref(),
                        is_in_list: item.get_ref().is_table(),
                        span: item.span(),
                    });
                    if let DeValue::Table(table) = item.get_ref() {
                        collect(table, &path, true, places);
                    }
                }
            }
            _ => {}
        }
    }
}

fn in_brackets(path: &[&str], is_list: bool) -> Option<String> {
    let name = joined(path);
    (!name.is_empty()).then(|| match is_list {
        true => format!("[[{name}]]"),
        false => format!("[{name}]"),
    })
}

/// Returns the names with dots between them, and `…` in place of those that must not be quoted: with misplaced quotation marks, a
/// name can be anything, even a key.
fn joined(path: &[&str]) -> String {
    let shown = |name: &&str| match name.contains('.') {
        _ if !is_word(name, MAX_NAME) => "…".to_owned(),
        true => format!("\"{name}\""),
        false => (*name).to_owned(),
    };
    let names: Vec<String> = path.iter().map(shown).collect();
    names.join(".")
}

/// Returns the line and column of a byte offset, counted from 1: `:3:7`.
pub(crate) fn location(text: &str, offset: usize) -> String {
    let boundary = (0..=offset.min(text.len()))
        .rev()
        .find(|index| text.is_char_boundary(*index));
    let before = &text[..boundary.unwrap_or(0)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!(":{line}:{column}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are of interest")]
    struct Sample {
        #[serde(default)]
        tables: BTreeMap<String, Inner>,
        #[serde(default)]
        list: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are of interest")]
    struct Inner {
        number: u32,
        #[serde(default)]
        texts: Vec<String>,
        #[serde(default)]
        mode: Option<Mode>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        Fast,
        Slow,
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = toml::from_str::<Sample>(text).unwrap_err();
        assert_eq!(explain(text, &error), expected, "{text}");
    }

    #[test]
    fn names_the_setting_and_what_was_found() {
        check(
            "[tables.a]\nnumber = 'three'\n",
            "`tables.a.number`: expected a whole number, found the text \"three\"",
        );
        check(
            "[tables]\n'v1.5'.number = 1.5\n",
            "`tables.\"v1.5\".number`: expected a whole number, found the number 1.5",
        );
        check(
            "[tables]\na = { number = -1 }\n",
            "`tables.a.number`: expected a whole number from 0 to 4294967295, found the number -1",
        );
        check(
            "[tables.a]\nnumber = 0xdeadbeefcafe\n",
            "`tables.a.number`: expected a whole number from 0 to 4294967295, found the number 0xdeadbeefcafe",
        );
        check(
            "[tables.a]\nnumber = 1\nmode = 3\n",
            "`tables.a.mode`: expected text in quotation marks, found the number 3",
        );
        check(
            "[tables.a]\nnumber = 1\ntexts = 'x'\n",
            "`tables.a.texts`: expected a list, found the text \"x\"; write [\"x\"]",
        );
        check(
            "[tables.a]\nnumber = 1\ntexts = ['x', 2020-01-01]\n",
            "`tables.a.texts`: expected text in quotation marks, found a date or time",
        );
        check(
            "[tables]\na = 1\n",
            "`tables.a`: expected a table, found the number 1; begin it with [tables.a]",
        );
        check(
            "[[list]]\nnumber = 1\nmode = 'fst'\n",
            "`list.mode`: expected `fast` or `slow`, found the text \"fst\"; did you mean `fast`?",
        );
    }

    #[test]
    fn names_the_table_of_an_unknown_or_missing_setting() {
        check(
            "[tables.a]\nnumbr = 1\n",
            "unknown setting `numbr` in [tables.a]; its settings are number, texts, mode; did you mean `number`?",
        );
        check(
            "[[list]]\nnumber = 1\n[[list]]\ncolor = 1\n",
            "unknown setting `color` in [[list]]; its settings are number, texts, mode",
        );
        // Names of models may contain characters that are not quoted.
        check("[tables.'a/b']\ntexts = []\n", "[tables.…] lacks the setting `number`");
        check(
            "[tables]\n'a:b' = 1\n",
            "`tables.…`: expected a table, found the number 1",
        );
        check("[tables.a]\ntexts = []\n", "[tables.a] lacks the setting `number`");
        check("[[list]]\n", "[[list]] lacks the setting `number`");
    }

    #[test]
    fn never_quotes_what_may_be_a_key() {
        for text in [
            "[tables.a]\nnumber = 'api_key = sk-1'\n",
            "[tables.'api_key = sk-1']\nnumber = 'x'\n",
            "[tables.a]\n'api_key = sk-1' = 1\n",
            "[tables.a]\nnumber = 1\nmode = 'api_key = sk-1'\n",
        ] {
            let error = toml::from_str::<Sample>(text).unwrap_err();
            let shown = explain(text, &error);
            assert!(!shown.contains("sk-1"), "{shown}");
        }
    }

    #[test]
    fn counts_lines_and_characters_from_one() {
        let check = |text: &str, offset: usize, expected: &str| {
            assert_eq!(location(text, offset), expected, "{text:?} {offset}");
        };
        check("", 0, ":1:1");
        check("ab\ncd", 3, ":2:1");
        check("é = 字x", 8, ":1:6");
        check("ab", 99, ":1:3");
    }
}
