//! Profiles from TOML and YAML.
#![cfg(feature = "documents")]

use std::sync::Arc;

use agcore_profile::{FieldError, ProfileDocument, ProfileError, ProfileErrorKind, ProfileRecord, ProfileSource, Uuid};
use agcore_testkit::profiles::{ProfileSourceSubject, check_profile_source};
use async_trait::async_trait;
use futures_util::FutureExt;
use serde_json::{Value, json};

use crate::support::{USER, load};

const TOML: &str = r#"
[[profiles]]
user_id = "6f1c9d0e-6f0a-4d7e-9a52-0d6b1f2a3c4d"
username = "Ada"
bio = "maps"

[profiles.settings]
version = 2
preferences = { ai_language = "en-GB", country = "gb" }
safety = { level = 3, words = ["a", "b"] }

[[profiles]]
user_id = "00000000-0000-0000-0000-000000000001"
username = "Lin"
"#;

const YAML: &str = r#"
profiles:
  - user_id: 6f1c9d0e-6f0a-4d7e-9a52-0d6b1f2a3c4d
    username: Ada
    bio: "maps"
    settings:
      version: 2
      preferences: &british {ai_language: en-GB, country: gb}
      safety:
        level: 3
        words: [a, !!str b]
  - user_id: 00000000-0000-0000-0000-000000000001
    username: Lin
    bio: ~
"#;

#[test]
fn both_formats_contain_the_same() {
    let documents = [ProfileDocument::from_toml(TOML), ProfileDocument::from_yaml(YAML)];
    let [toml, yaml] = documents.map(|document| document.unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(toml, yaml);
    assert_eq!(toml.users().count(), 2);
    let context = load(&yaml).unwrap();
    assert_eq!(
        (context.user_id(), context.username(), context.bio()),
        (USER, "Ada", Some("maps"))
    );
    assert_eq!(context.settings().preferences().country().as_str(), "GB");
    assert_eq!(context.settings().safety()["words"], serde_json::json!(["a", "b"]));
    let empty = [ProfileDocument::from_toml(""), ProfileDocument::from_yaml("{}")];
    for document in empty {
        assert_eq!(load(&document.unwrap()).unwrap_err().kind(), ProfileErrorKind::NotFound);
    }
}

#[track_caller]
fn fields(read: Result<ProfileDocument, ProfileError>, expected: &[&str]) {
    let error = read.expect_err("the document is read");
    let fields: Vec<&str> = error.fields().iter().map(FieldError::field).collect();
    assert_eq!(fields, expected, "{error}");
}

#[test]
fn all_errors_of_all_profiles_are_reported() {
    let text = r#"
title = "x"
[[profiles]]
user_id = "7"
name = "Ada"
[[profiles]]
user_id = "00000000-0000-0000-0000-000000000001"
username = 7
settings = { version = 1, preferences = { country = "USA" }, safety = {} }
"#;
    fields(
        ProfileDocument::from_toml(text),
        &[
            "title",
            "profiles[0].name",
            "profiles[0].username",
            "profiles[0].user_id",
            "profiles[1].username",
            "profiles[1].settings.preferences.country",
            "profiles[1].settings.safety",
        ],
    );
    let twice = "profiles:\n- &p {user_id: 00000000-0000-0000-0000-000000000001, username: a}\n- *p\n";
    fields(ProfileDocument::from_yaml(twice), &["profiles[1].user_id"]);
    fields(ProfileDocument::from_yaml("profiles: 7"), &["profiles"]);
    fields(ProfileDocument::from_yaml("[1]"), &["document"]);
    fields(
        ProfileDocument::from_yaml("profiles: [7]"),
        &["profiles[0].profile", "profiles[0].user_id", "profiles[0].username"],
    );
}

#[track_caller]
fn syntax(read: Result<ProfileDocument, ProfileError>, expected: &str) {
    let error = read.expect_err("the document is read");
    assert_eq!(error.kind(), ProfileErrorKind::Syntax);
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn syntax_errors_have_a_line_and_a_column() {
    syntax(ProfileDocument::from_toml("a = 1\nb = = 2"), "in line 2, column 5");
    syntax(ProfileDocument::from_yaml("a: 1\nb: [1, 2"), "in line");
    syntax(
        ProfileDocument::from_yaml("a: 1\na: 2"),
        "in line 2, column 1: the key \"a\" occurs twice in one table",
    );
    syntax(ProfileDocument::from_yaml("1: 2"), "a key must be a text");
    syntax(ProfileDocument::from_yaml("a: !!binary aaaa"), "the only tag");
    syntax(
        ProfileDocument::from_yaml("a: 1\n---\nb: 2"),
        "a second document begins",
    );
    syntax(ProfileDocument::from_yaml("a: &x [*x]"), "contains it");
    syntax(ProfileDocument::from_yaml(&"[".repeat(100)), "nested");
}

#[test]
fn aliases_cannot_exhaust_the_memory() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        text.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    syntax(ProfileDocument::from_yaml(&text), "more than 1000000 values");
}

fn document(records: &[ProfileRecord]) -> Value {
    let profile = |record: &ProfileRecord| {
        let mut profile =
            json!({"user_id": record.user_id.to_string(), "username": record.username, "settings": record.settings});
        if let Some(bio) = &record.bio {
            profile["bio"] = json!(bio);
        }
        profile
    };
    json!({"profiles": records.iter().map(profile).collect::<Vec<_>>()})
}

/// Writes JSON without null as a value of TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{} = {}", json!(name), toml(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        scalar => scalar.to_string(),
    }
}

struct Toml;

#[async_trait]
impl ProfileSourceSubject for Toml {
    async fn source(&self, records: &[ProfileRecord]) -> Arc<dyn ProfileSource> {
        let text = format!("profiles = {}", toml(&document(records)["profiles"]));
        Arc::new(ProfileDocument::from_toml(&text).unwrap())
    }
}

struct Yaml;

#[async_trait]
impl ProfileSourceSubject for Yaml {
    async fn source(&self, records: &[ProfileRecord]) -> Arc<dyn ProfileSource> {
        // JSON is YAML.
        Arc::new(ProfileDocument::from_yaml(&document(records).to_string()).unwrap())
    }
}

/// A source that upgrades settings while it reads them.
#[derive(Debug)]
struct Upgrading(ProfileDocument);

#[async_trait]
impl ProfileSource for Upgrading {
    async fn profile(&self, user_id: Uuid) -> Result<Option<ProfileRecord>, ProfileError> {
        let record = self.0.profile(user_id).await?;
        Ok(record.map(|record| {
            let settings = json!({"version": 2});
            record.with_settings(settings)
        }))
    }
}

struct Flawed;

#[async_trait]
impl ProfileSourceSubject for Flawed {
    async fn source(&self, records: &[ProfileRecord]) -> Arc<dyn ProfileSource> {
        let text = document(records).to_string();
        Arc::new(Upgrading(ProfileDocument::from_yaml(&text).unwrap()))
    }
}

#[test]
fn documents_conform() {
    for subject in [&Toml as &dyn ProfileSourceSubject, &Yaml] {
        check_profile_source(subject).now_or_never().unwrap();
    }
}

#[test]
#[should_panic(expected = "without an upgrade")]
fn a_flawed_source_is_found() {
    check_profile_source(&Flawed).now_or_never().unwrap();
}
