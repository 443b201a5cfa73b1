//! Text that comes from settings or from models: nothing of it makes the rules panic.

use agcore_tools::{
    Arguments,
    permission::{ArgumentTest, Glob, JsonPath, Rule, RuleState},
};
use proptest::prelude::*;
use serde_json::json;

/// The obvious way to match: try every way to split.
fn slow_match(pattern: &[char], text: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            slow_match(rest, text) || text.split_first().is_some_and(|(_, text)| slow_match(pattern, text))
        }
        (Some(('?', pattern)), Some((_, text))) => slow_match(pattern, text),
        (Some((wanted, pattern)), Some((found, text))) => wanted == found && slow_match(pattern, text),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_path_or_an_error(text in r#"\$?([.\['"\]*\\]|[a-zé0-9]|\PC){0,20}"#) {
        if let Ok(path) = JsonPath::new(&text) {
            prop_assert_eq!(path.as_str(), &text);
            path.find(&json!({"a": [{"b": 1}]}));
        }
    }

    #[test]
    fn a_quoted_name_finds_its_member(name in r"\PC{0,12}") {
        let quoted = name.replace('\\', r"\\").replace('\'', r"\'");
        let path = JsonPath::new(&format!("$['{quoted}'][0]")).unwrap();
        let value = json!({name: [7]});
        prop_assert_eq!(path.find(&value), [&json!(7)]);
    }

    #[test]
    fn globs_match_as_the_obvious_way_does(pattern in "[ab./*?é]{0,8}", text in "[ab./é]{0,8}") {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        prop_assert_eq!(Glob::new(&*pattern).matches(&text), slow_match(&chars(&pattern), &chars(&text)));
    }

    /// Whatever the spelling, what an allow rule holds to be inside has no way out.
    #[test]
    fn within_lets_nothing_out(path in r"(/|\\|\.|a|notes){0,10}") {
        let rule = Rule::argument(RuleState::Allow, "*", "$.path", ArgumentTest::Within("/notes".into())).unwrap();
        let arguments = Arguments::from(json!({"path": path}).as_object().cloned().unwrap());
        if rule.holds("t", &[], &arguments) {
            prop_assert!(!path.split(['/', '\\']).any(|part| part == ".."));
            let first = path.split(['/', '\\']).find(|part| !matches!(*part, "" | "."));
            prop_assert_eq!(first, Some("notes"));
        }
    }
}
