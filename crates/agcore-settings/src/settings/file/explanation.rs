//! Explains an error in a settings file: which setting is wrong, what it must be, and what it is.

use agcore::chat::text::{alternatives, suggestion};
use agcore_document::{DocumentError, ErrorKind, Expected, Node, Step, Value};

use crate::wording::{expected, is_word, text_in_words};

/// The longest name that is quoted.
pub(crate) const MAX_NAME: usize = 40;

/// Returns the message for an error in a file, without its location. A text that is not TOML has no values yet.
pub(crate) fn explain(root: Option<&Node>, error: &DocumentError) -> String {
    let place = Setting::new(root, error);
    let prefix = place.prefix();
    match &error.kind {
        ErrorKind::WrongType { expected, .. } => place.wrong_value(expected, false),
        ErrorKind::OutOfRange { expected, .. } => place.wrong_value(expected, true),
        ErrorKind::UnknownName { name, known } => format!(
            "{prefix}expected {}, found {}{}",
            alternatives(known),
            text_in_words(name),
            suggestion(name, known)
        ),
        ErrorKind::UnknownField { name, known } => {
            let shown = if is_word(name, MAX_NAME) {
                format!(" `{name}`")
            } else {
                String::new()
            };
            let table = place.table().map(|table| format!(" in {table}")).unwrap_or_default();
            format!(
                "unknown setting{shown}{table}; its settings are {}{}",
                known.join(", "),
                suggestion(name, known)
            )
        }
        ErrorKind::MissingField(name) => match place.table() {
            Some(table) => format!("{table} lacks the setting `{name}`"),
            None => format!("the setting `{name}` is missing"),
        },
        ErrorKind::DuplicateKey(name) if !is_word(name, MAX_NAME) => {
            "a key occurs twice in one table; remove one of them".to_owned()
        }
        other => format!("{prefix}{other}"),
    }
}

/// The setting that an error is about, or the table in which one is missing or unknown.
struct Setting<'e> {
    /// The names of the tables around it, and its own.
    names: Vec<&'e str>,
    /// Whether it is an item of a list: `[[hooks.Stop]]`.
    is_item: bool,
    value: Option<&'e Value>,
}

impl<'e> Setting<'e> {
    fn new(root: Option<&'e Node>, error: &'e DocumentError) -> Self {
        let steps = error.path.steps();
        let name = |step: &'e Step| match step {
            Step::Member(name) => Some(name.as_str()),
            Step::Item(_) => None,
        };
        Self {
            names: steps.iter().filter_map(name).collect(),
            is_item: matches!(steps.last(), Some(Step::Item(_))),
            value: root.and_then(|root| root.at(&error.path)).map(|node| &node.value),
        }
    }

    fn prefix(&self) -> String {
        match self.names.is_empty() {
            true => String::new(),
            false => format!("`{}`: ", joined(&self.names)),
        }
    }

    /// Returns the table with these settings: `[timeouts]`.
    fn table(&self) -> Option<String> {
        let is_list = self.is_item || matches!(self.value, Some(Value::List(_)));
        in_brackets(&self.names, is_list)
    }

    fn wrong_value(&self, wanted: &Expected, is_out_of_range: bool) -> String {
        let wanted_in_words = match wanted {
            Expected::Name(names) => alternatives(names),
            other => expected(other, is_out_of_range).into_owned(),
        };
        let found = self.found().map(|found| format!(", found {found}")).unwrap_or_default();
        let hint = self.hint(wanted).unwrap_or_default();
        format!("{}expected {wanted_in_words}{found}{hint}", self.prefix())
    }

    /// Describes the value. Variables and headers of MCP servers may be keys, even if they look like numbers.
    fn found(&self) -> Option<String> {
        let is_secret = ["mcp", "api_key"].contains(self.names.first()?);
        Some(match self.value? {
            Value::Text(_) if is_secret => "a text".to_owned(),
            Value::Text(text) => text_in_words(text),
            Value::Number(number) if !is_secret && is_word(number, MAX_NAME) => format!("the number {number}"),
            Value::Number(_) => "a number".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
            Value::Null => "nothing".to_owned(),
        })
    }

    /// Returns how to write what was probably meant, unless that would quote a hidden name.
    fn hint(&self, wanted: &Expected) -> Option<String> {
        if !self.names.iter().all(|name| is_word(name, MAX_NAME)) {
            return None;
        }
        let found = self.found()?;
        match (wanted, self.value?) {
            (Expected::List, _)
                if self.names.first() == Some(&"hooks") || matches!(self.names[..], ["serve", "quotas" | "hooks"]) =>
            {
                in_brackets(&self.names, true).map(|table| format!("; begin each with {table}"))
            }
            (Expected::List, Value::Text(text)) if found.contains('"') => Some(format!("; write [\"{text}\"]")),
            (Expected::List, Value::Text(_)) => Some("; write it in brackets".to_owned()),
            (Expected::Table, _) => self.table().map(|table| format!("; begin it with {table}")),
            _ => None,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agcore_document::Format;
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

    fn explained(text: &str) -> String {
        let root = Format::Toml.parse(text).unwrap();
        explain(Some(&root), &root.read::<Sample>().unwrap_err())
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(explained(text), expected, "{text}");
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
            "`tables.a.number`: expected a whole number from 0 to 4294967295, found the number 244837814094590",
        );
        check(
            "[tables.a]\nnumber = 1\nmode = 3\n",
            "`tables.a.mode`: expected `fast` or `slow`, found the number 3",
        );
        check(
            "[tables.a]\nnumber = 1\ntexts = 'x'\n",
            "`tables.a.texts`: expected a list, found the text \"x\"; write [\"x\"]",
        );
        check(
            "[tables.a]\nnumber = 1\ntexts = ['x', true]\n",
            "`tables.a.texts`: expected text in quotation marks, found true",
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
            let shown = explained(text);
            assert!(!shown.contains("sk-1"), "{shown}");
        }
    }
}
