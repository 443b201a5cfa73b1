//! Parsing the list of phrases, and matching one against words.

use std::collections::HashMap;

use toml::{Table, Value};

use crate::tidy::prose::text::{Passage, Word};

/// The list of rejected phrases and of rejected first words of docs.
#[derive(Debug)]
pub(super) struct Phrases {
    pub(super) anywhere: PhraseIndex,
    /// The phrases that the first line of a doc comment must not contain.
    pub(super) first_line: PhraseIndex,
    pub(super) openers: Vec<String>,
    pub(super) item_openers: Vec<String>,
    pub(super) function_openers: Vec<String>,
}

/// Phrases by each of their first words.
#[derive(Debug)]
pub(super) struct PhraseIndex(HashMap<String, Vec<Phrase>>);

/// A rejected phrase.
#[derive(Debug, Clone)]
pub(super) struct Phrase {
    /// The alternatives for each word; none stands for any word.
    words: Vec<Vec<String>>,
    pub(super) advice: String,
    allowed_before: Vec<String>,
    allowed_after: Vec<String>,
    in_names: bool,
}

impl PhraseIndex {
    /// Returns the longest phrase that occurs at a word, as it is the most specific, and the number of its words.
    pub(super) fn longest_at(&self, passage: &Passage, at: usize) -> Option<(usize, &Phrase)> {
        let first = lower_first(&passage.words.get(at)?.text);
        let candidates = self.0.get(&first)?.iter();
        let candidates = candidates.filter(|phrase| !passage.is_name || phrase.in_names);
        let matches = candidates.filter_map(|phrase| Some((phrase.length_at(&passage.words, at)?, phrase)));
        matches.max_by_key(|(length, _)| *length)
    }

    fn parse(entries: &[Value]) -> Result<Self, String> {
        let mut by_first_word: HashMap<String, Vec<Phrase>> = HashMap::new();
        for entry in entries {
            let phrase = Phrase::parse(entry)?;
            let [first, ..] = &*phrase.words else {
                return Err(format!("`find` is empty in {entry:?}"));
            };
            if first.is_empty() {
                return Err(format!("the first word is a wildcard in {entry:?}"));
            }
            for word in first.clone() {
                by_first_word.entry(word).or_default().push(phrase.clone());
            }
        }
        Ok(Self(by_first_word))
    }
}

impl Phrases {
    /// Parses the list.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error| format!("invalid TOML: {error}"))?;
        let entries = |name| table.get(name).and_then(Value::as_array);
        Ok(Self {
            anywhere: PhraseIndex::parse(entries("phrases").ok_or("`phrases` is missing")?)?,
            first_line: PhraseIndex::parse(entries("first_line").ok_or("`first_line` is missing")?)?,
            openers: strings(table.get("openers"))?,
            item_openers: strings(table.get("item_openers"))?,
            function_openers: strings(table.get("function_openers"))?,
        })
    }
}

impl Phrase {
    fn parse(entry: &Value) -> Result<Self, String> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let find = text("find").ok_or_else(|| format!("`find` is missing in {entry:?}"))?;
        let advice = text("use").ok_or_else(|| format!("`use` is missing in {entry:?}"))?;
        let alternatives = |word: &str| match word {
            "*" => Vec::new(),
            word => word.split('|').map(str::to_owned).collect(),
        };
        let keys = ["find", "use", "before", "after", "names"];
        let unknown = entry.as_table().into_iter().flatten().map(|(key, _)| key);
        if let Some(key) = unknown.into_iter().find(|key| !keys.contains(&key.as_str())) {
            return Err(format!("unknown key `{key}` in {entry:?}"));
        }
        Ok(Self {
            words: find.split_whitespace().map(alternatives).collect(),
            advice: advice.to_owned(),
            allowed_before: strings(entry.get("before"))?,
            allowed_after: strings(entry.get("after"))?,
            in_names: entry.get("names").and_then(Value::as_bool).unwrap_or_default(),
        })
    }

    /// Returns the number of words that match the phrase, if it occurs at `at`.
    fn length_at(&self, words: &[Word], at: usize) -> Option<usize> {
        let length = self.words.len();
        let candidates = words.get(at..at + length)?;
        let joined = candidates.windows(2).all(|pair| pair[1].follows);
        let mut pairs = self.words.iter().zip(candidates).enumerate();
        let matches = pairs.all(|(index, (alternatives, word))| {
            let is_any = alternatives.is_empty() && !word.text.is_empty();
            // The first word was compared already.
            index == 0 || is_any || alternatives.contains(&word.text)
        });
        if !(joined && matches) {
            return None;
        }
        let before = at.checked_sub(1).map(|before| &words[before]);
        let before = before
            .filter(|_| words[at].follows)
            .map(|word| word.text.to_lowercase());
        let after = words.get(at + length).filter(|word| word.follows);
        let after = after.map(|word| word.text.to_lowercase());
        let is_allowed =
            |neighbour: Option<String>, allowed: &[String]| neighbour.is_some_and(|word| allowed.contains(&word));
        let is_allowed = is_allowed(before, &self.allowed_before) || is_allowed(after, &self.allowed_after);
        (!is_allowed).then_some(length)
    }
}

fn lower_first(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(characters).collect()
}

fn strings(value: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    let list = value.as_array().ok_or_else(|| format!("{value:?} is not a list"))?;
    let strings = list.iter().map(|word| word.as_str().map(str::to_owned));
    strings
        .collect::<Option<_>>()
        .ok_or_else(|| format!("{value:?} is not a list of strings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entry: &str, line: &str, expected: bool) {
        let list = format!("phrases = [{{ {entry}, use = \"x\" }}]\nfirst_line = []");
        let phrases = Phrases::parse(&list).unwrap();
        let passage = Passage::from_line(line, 1);
        let found = (0..passage.words.len()).any(|at| phrases.anywhere.longest_at(&passage, at).is_some());
        assert_eq!(found, expected, "{entry}: {line}");
    }

    #[test]
    fn compares_whole_words() {
        check("find = \"is told\"", "It is told.", true);
        check("find = \"told\"", "Retold.", false);
        check("find = \"is none\"", "x is None", false);
        check("find = \"thus\"", "Thus it is.", true);
    }

    #[test]
    fn punctuation_separates_words() {
        check("find = \"is none\"", "as it is: none", false);
        check("find = \"goes on\"", "it goes\ton", true);
    }

    #[test]
    fn alternatives_and_wildcards_are_allowed() {
        check("find = \"is|are no *\"", "they are no URLs", true);
        check("find = \"is|are no *\"", "they are no", false);
    }

    #[test]
    fn neighbours_can_make_a_phrase_acceptable() {
        let entry = "find = \"is no\", before = [\"there\"], after = [\"longer\"]";
        check(entry, "it is no URL", true);
        check(entry, "There is no URL", false);
        check(entry, "it is no longer", false);
        check(entry, "There: is no", true);
    }

    #[test]
    fn mistakes_in_the_list_are_reported() {
        for list in [
            "",
            "phrases = [{ find = \"a\" }]",
            "phrases = [{ find = \"* a\", use = \"b\" }]",
            "phrases = [{ find = \"a\", use = \"b\", name = true }]",
            "phrases = []",
            "phrases = []\nfirst_line = [{ find = \"a\" }]",
        ] {
            assert!(Phrases::parse(list).is_err(), "{list}");
        }
    }
}
