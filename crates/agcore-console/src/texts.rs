//! [`Texts`]: all words of the pages, with a file for each language.

mod table;
mod en;
mod zh;

pub(crate) use self::table::Texts;
use crate::language::Language;

/// Returns the texts of a language.
pub(crate) fn texts_of(language: Language) -> &'static Texts {
    match language {
        Language::English => &en::TEXTS,
        Language::Chinese => &zh::TEXTS,
    }
}

/// Puts values into the places of a text.
pub(crate) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            break;
        };
        filled.push_str(before);
        let value = values.iter().find(|(known, _)| *known == name);
        filled.push_str(value.map_or("", |(_, value)| value));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn places(text: &str) -> BTreeSet<&str> {
        let parts = text.split('{').skip(1);
        parts
            .filter_map(|part| part.split_once('}').map(|(name, _)| name))
            .collect()
    }

    #[test]
    fn every_text_exists_in_every_language_with_the_same_places() {
        let (english, chinese) = (en::TEXTS.all(), zh::TEXTS.all());
        assert!(english.len() > 100, "{}", english.len());
        for ((name, one), (_, other)) in english.into_iter().zip(chinese) {
            assert!(!one.trim().is_empty() && !other.trim().is_empty(), "{name}");
            assert_eq!(places(one), places(other), "{name}");
            assert!(
                one.is_ascii() || one.chars().all(|char| !('\u{4e00}'..'\u{a000}').contains(&char)),
                "{name}"
            );
            let is_translated = other.chars().any(|char| ('\u{3000}'..'\u{ffff}').contains(&char));
            assert!(is_translated || one == other, "{name}: {other}");
        }
    }

    #[test]
    fn values_are_put_into_places_once() {
        assert_eq!(fill("{a} of {b}", &[("a", "{b}"), ("b", "7")]), "{b} of 7");
        assert_eq!(fill("none", &[("a", "1")]), "none");
        assert_eq!(fill("{a", &[("a", "1")]), "{a");
        assert_eq!(fill("{unknown}!", &[]), "!");
    }
}
