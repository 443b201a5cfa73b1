//! [`user_facts`]: the facts about a user in a profile.

use agcore_profile::UserAgentContext;
use serde_json::{Map, Value};

/// The longest fact, in characters.
const MAX_CHARS: usize = 512;

/// Returns the facts about a user in a profile, for templates: `username`, `bio`, `interface_language`, `ai_language`, `timezone`
/// and `country`. Only what is set is a member. Users write these texts: line breaks become spaces, and long texts are cut.
pub fn user_facts(context: &UserAgentContext) -> Map<String, Value> {
    let preferences = context.settings().preferences();
    let (zone, country) = (preferences.timezone(), preferences.country());
    let facts = [
        ("username", Some(context.username())),
        ("bio", context.bio()),
        ("interface_language", Some(preferences.interface_language().as_str())),
        ("ai_language", Some(preferences.ai_language().as_str())),
        ("timezone", Some(zone.as_str())),
        ("country", Some(country.as_str())),
    ];
    let set = facts.into_iter().filter_map(|(name, text)| {
        let text = text.map(one_line).filter(|text| !text.is_empty())?;
        Some((name.to_owned(), Value::String(text)))
    });
    set.collect()
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_CHARS)
        .collect()
}
