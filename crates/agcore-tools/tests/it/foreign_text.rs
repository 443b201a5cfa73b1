//! Arbitrary text from settings or models never makes the rules panic.

use agcore_tools::{
    Arguments, Rule, RuleState,
    permission::{ArgumentTest, Glob, JsonPath},
};
use proptest::prelude::*;
use serde_json::json;

/// The obvious way to match: tries every way to split the text.
fn naive_match(pattern: &[char], text: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            naive_match(rest, text) || text.split_first().is_some_and(|(_, text)| naive_match(pattern, text))
        }
        (Some(('?', pattern)), Some((_, text))) => naive_match(pattern, text),
        (Some((wanted, pattern)), Some((found, text))) => wanted == found && naive_match(pattern, text),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_valid_path_or_an_error(text in r#"\$?([.\['"\]*\\]|[a-zé0-9]|\PC){0,20}"#) {
        if let Ok(path) = JsonPath::new(&text) {
            prop_assert_eq!(path.as_str(), &text);
            path.find(&json!({"a": [{"b": 1}]}));
        }
    }

    #[test]
    fn a_quoted_name_selects_its_member(name in r"\PC{0,12}") {
        let quoted = name.replace('\\', r"\\").replace('\'', r"\'");
        let path = JsonPath::new(&format!("$['{quoted}'][0]")).unwrap();
        let value = json!({name: [7]});
        prop_assert_eq!(path.find(&value), [&json!(7)]);
    }

    #[test]
    fn globs_match_like_the_naive_implementation(pattern in "[ab./*?é]{0,8}", text in "[ab./é]{0,8}") {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        prop_assert_eq!(Glob::new(&*pattern).matches(&text), naive_match(&chars(&pattern), &chars(&text)));
    }

    /// However a path is spelled, an allow rule matches it only if it cannot leave the directory.
    #[test]
    fn within_matches_no_path_that_leaves_the_directory(path in r"(/|\\|\.|a|notes){0,10}") {
        let rule = Rule::argument(RuleState::Allow, "*", "$.path", ArgumentTest::Within("/notes".into())).unwrap();
        let arguments = Arguments::from(json!({"path": path}).as_object().cloned().unwrap());
        if rule.matches("t", &[], &arguments) {
            prop_assert!(!path.split(['/', '\\']).any(|part| part == ".."));
            let first = path.split(['/', '\\']).find(|part| !matches!(*part, "" | "."));
            prop_assert_eq!(first, Some("notes"));
        }
    }
}
