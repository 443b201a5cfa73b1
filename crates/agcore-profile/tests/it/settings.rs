//! Versioned settings: reading, defaults, errors, upgrades.

use agcore_profile::{Preferences, ProfileErrorKind, ProfileSettings, SettingsVersion};
use proptest::{collection::btree_map, prelude::*};
use serde_json::{Map, Value, json};

#[track_caller]
fn read(value: Value) -> ProfileSettings {
    ProfileSettings::from_value(&value).unwrap_or_else(|error| panic!("{error}"))
}

/// Checks the fields, the values and a part of the rules of all errors.
#[track_caller]
fn refused(value: Value, expected: &[(&str, &str, &str)]) {
    let error = ProfileSettings::from_value(&value).expect_err("the settings are read");
    assert_eq!(error.kind(), ProfileErrorKind::Invalid);
    let found: Vec<_> = error
        .fields()
        .iter()
        .map(|field| (field.field(), field.value()))
        .collect();
    let wanted: Vec<_> = expected.iter().map(|(field, value, _)| (*field, *value)).collect();
    assert_eq!(found, wanted, "{error}");
    for (field, (_, _, rule)) in error.fields().iter().zip(expected) {
        assert!(field.rule().contains(rule), "{field}");
        assert!(error.to_string().contains(&field.to_string()), "{error}");
    }
}

fn parts(settings: &ProfileSettings) -> [&str; 2] {
    let preferences = settings.preferences();
    [
        preferences.interface_language().as_str(),
        preferences.ai_language().as_str(),
    ]
}

#[test]
fn everything_that_is_missing_has_a_default() {
    for value in [
        json!({}),
        json!({"version": 1}),
        json!({"preferences": {}}),
        json!({"version": 1, "preferences": {}, "privacy": {}, "notification": {}}),
    ] {
        let settings = read(value);
        assert_eq!(settings.version(), SettingsVersion::V1);
        assert_eq!(settings.preferences(), &Preferences::default());
        assert_eq!(parts(&settings), ["zh-CN", "zh-CN"]);
        assert_eq!(settings.preferences().timezone().as_str(), "Asia/Shanghai");
        assert_eq!(settings.preferences().country().as_str(), "CN");
    }
    let settings = read(json!({"version": 2, "preferences": {"interface_language": "de", "country": "at"}}));
    assert_eq!(settings.version(), SettingsVersion::V2);
    assert_eq!(parts(&settings), ["de", "zh-CN"]);
    assert_eq!(settings.preferences().country().as_str(), "AT");
}

#[test]
fn the_newest_version_is_written() {
    let old = read(json!({"privacy": {"a": [1, {"b": null}]}, "notification": {"mail": true}}));
    assert_eq!(
        old.to_value(),
        json!({
            "version": 2,
            "preferences": {
                "interface_language": "zh-CN", "ai_language": "zh-CN", "timezone": "Asia/Shanghai", "country": "CN",
            },
            "privacy": {"a": [1, {"b": null}]}, "notification": {"mail": true}, "safety": {},
        })
    );
    assert_eq!(serde_json::to_value(&old).unwrap(), old.to_value());
    // The upgrade can be postponed, but settings never go back to an older version.
    let kept = old.to_value_in(old.version());
    assert_eq!((&kept["version"], kept.get("safety")), (&json!(1), None));
    let new = read(json!({"version": 2, "safety": {"level": "high"}}));
    assert_eq!(new.to_value_in(SettingsVersion::V1)["safety"], json!({"level": "high"}));
    assert_eq!(ProfileSettings::default().to_value()["version"], 2);
}

#[test]
fn unknown_versions_and_shapes_are_errors() {
    let version = "the number 1 or 2";
    for (value, shown) in [
        (json!(0), "0"),
        (json!(3), "3"),
        (json!(-1), "-1"),
        (json!(1.5), "1.5"),
        (json!("2"), "\"2\""),
        (json!(null), "null"),
        (json!(true), "true"),
        (json!([2]), "an array of 1"),
    ] {
        // Nothing else is read, because it may mean something else in that version.
        refused(
            json!({"version": value, "preferences": 7}),
            &[("version", shown, version)],
        );
    }
    refused(json!([]), &[("settings", "an array of 0", "an object is expected")]);
    refused(json!(null), &[("settings", "null", "an object is expected")]);
    refused(
        json!({"safety": {}}),
        &[("safety", "an object with 0 members", "version 1 has only")],
    );
    refused(
        json!({"version": 2, "theme": "dark"}),
        &[("theme", "\"dark\"", "version 2 has only")],
    );
    refused(
        json!({"preferences": null}),
        &[("preferences", "null", "an object is expected")],
    );
    refused(
        json!({"version": 2, "privacy": [], "notification": 1, "safety": "x"}),
        &[
            ("privacy", "an array of 0", "an object is expected"),
            ("notification", "1", "an object is expected"),
            ("safety", "\"x\"", "an object is expected"),
        ],
    );
}

#[test]
fn all_errors_are_reported_at_once() {
    refused(
        json!({
            "preferences": {
                "interface_language": "zh_CN", "ai_language": 7, "timezone": "GMT+8", "country": "CHN", "language": "en",
            },
            "extra\n": 1,
        }),
        &[
            ("preferences.interface_language", "\"zh_CN\"", "write \"zh-CN\""),
            ("preferences.ai_language", "7", "a text is expected"),
            ("preferences.timezone", "\"GMT+8\"", "IANA"),
            ("preferences.country", "\"CHN\"", "write \"CN\""),
            ("preferences.language", "\"en\"", "the preferences are"),
            ("extra\\n", "1", "version 1 has only"),
        ],
    );
}

#[test]
fn what_is_not_json_is_a_syntax_error() {
    for text in [
        "",
        "{",
        "{\"version\": 1,}",
        "nonsense",
        "{\"preferences\": {\"country\": \"\\ud800\"}}",
    ] {
        let error = ProfileSettings::from_json(text).unwrap_err();
        assert_eq!(error.kind(), ProfileErrorKind::Syntax, "{text}");
        assert!(error.to_string().contains("line "), "{error}");
        assert!(error.fields().is_empty() && !error.is_retryable());
    }
    let error = serde_json::from_str::<ProfileSettings>(r#"{"version": 9}"#).unwrap_err();
    assert!(error.to_string().contains("version: 9 is refused"), "{error}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(".{0,6}", inner, 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn members() -> impl Strategy<Value = Map<String, Value>> {
    btree_map(".{0,6}", any_json(), 0..5).prop_map(|members| members.into_iter().collect())
}

fn cases() -> ProptestConfig {
    let is_soak = std::env::var_os("AGCORE_SOAK").is_some();
    ProptestConfig::with_cases(if is_soak { 20_000 } else { 100 })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_round_trip_keeps_the_reserved_maps(privacy in members(), notification in members(), safety in members()) {
        let settings = read(json!({
            "version": 2, "privacy": privacy, "notification": notification, "safety": safety,
        }));
        let again = read(serde_json::from_str(&settings.to_value().to_string()).unwrap());
        prop_assert_eq!(&again, &settings);
        prop_assert_eq!(again.privacy(), &privacy);
        prop_assert_eq!(again.notification(), &notification);
        prop_assert_eq!(again.safety(), &safety);
    }

    #[test]
    fn any_json_is_read_or_refused(value in any_json(), preferences in any_json()) {
        let _ = ProfileSettings::from_value(&value);
        let _ = ProfileSettings::from_value(&json!({"preferences": preferences}));
        let _ = ProfileSettings::from_json(&value.to_string());
    }
}
