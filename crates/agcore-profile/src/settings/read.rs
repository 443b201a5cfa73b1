//! Reads settings of any version and collects everything that is wrong.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::version::SettingsVersion;
use crate::{error::FieldError, preferences::Preferences};

const VERSION_RULE: &str = "the version is the number 1 or 2; a newer one needs a newer program";
const OBJECT_RULE: &str = "an object is expected";
const TEXT_RULE: &str = "a text is expected";

/// The parts of settings.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Parts {
    pub(super) version: SettingsVersion,
    pub(super) preferences: Preferences,
    pub(super) privacy: Map<String, Value>,
    pub(super) notification: Map<String, Value>,
    pub(super) safety: Map<String, Value>,
}

impl Parts {
    /// Reads settings, or returns everything that is wrong with them, in their order.
    pub(super) fn read(value: &Value) -> Result<Self, Vec<FieldError>> {
        let Value::Object(members) = value else {
            return Err(vec![FieldError::json("settings", value, OBJECT_RULE)]);
        };
        // The version decides what the other members mean, so nothing else is read if it is unknown.
        let version = version(members.get("version")).map_err(|error| vec![error])?;
        let mut parts = Self {
            version,
            ..Self::default()
        };
        let mut errors = Vec::new();
        for (name, value) in members {
            match name.as_str() {
                "version" => {}
                "preferences" => parts.preferences = preferences(value, &mut errors),
                "privacy" => parts.privacy = object(name, value, &mut errors),
                "notification" => parts.notification = object(name, value, &mut errors),
                "safety" if version >= SettingsVersion::V2 => parts.safety = object(name, value, &mut errors),
                _ => errors.push(FieldError::json(&path(name), value, unknown_member(version))),
            }
        }
        if errors.is_empty() { Ok(parts) } else { Err(errors) }
    }
}

fn version(value: Option<&Value>) -> Result<SettingsVersion, FieldError> {
    match value {
        None => Ok(SettingsVersion::V1),
        Some(value) => match value.as_u64() {
            Some(1) => Ok(SettingsVersion::V1),
            Some(2) => Ok(SettingsVersion::V2),
            _ => Err(FieldError::json("version", value, VERSION_RULE)),
        },
    }
}

fn unknown_member(version: SettingsVersion) -> &'static str {
    match version {
        SettingsVersion::V1 => {
            "version 1 has only the members version, preferences, privacy and notification; remove it, or set the version"
        }
        SettingsVersion::V2 => {
            "version 2 has only the members version, preferences, privacy, notification and safety; remove it"
        }
    }
}

fn preferences(value: &Value, errors: &mut Vec<FieldError>) -> Preferences {
    let mut preferences = Preferences::default();
    for (name, value) in &object("preferences", value, errors) {
        let field = format!("preferences.{}", path(name));
        let read = match name.as_str() {
            "interface_language" => text(&field, value).map(|language| preferences.interface_language = language),
            "ai_language" => text(&field, value).map(|language| preferences.ai_language = language),
            "timezone" => text(&field, value).map(|timezone| preferences.timezone = timezone),
            "country" => text(&field, value).map(|country| preferences.country = country),
            _ => {
                let rule = "the preferences are interface_language, ai_language, timezone and country; remove it";
                Err(FieldError::json(&field, value, rule))
            }
        };
        errors.extend(read.err());
    }
    preferences
}

fn text<T: FromStr<Err = FieldError>>(field: &str, value: &Value) -> Result<T, FieldError> {
    let Value::String(text) = value else {
        return Err(FieldError::json(field, value, TEXT_RULE));
    };
    text.parse().map_err(|error: FieldError| error.in_field(field))
}

fn object(field: &str, value: &Value, errors: &mut Vec<FieldError>) -> Map<String, Value> {
    if let Value::Object(members) = value {
        return members.clone();
    }
    errors.push(FieldError::json(field, value, OBJECT_RULE));
    Map::new()
}

/// Returns the name of a member as part of a path: escaped, and shortened if it is long.
fn path(name: &str) -> String {
    name.chars().take(32).flat_map(char::escape_debug).collect()
}
