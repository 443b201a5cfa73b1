//! [`ProfileDocument`]: profiles from a text.

use std::collections::BTreeMap;

use agcore_document::{DocumentError, Format};
use async_trait::async_trait;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{
    error::{FieldError, ProfileError},
    settings::ProfileSettings,
    source::{ProfileRecord, ProfileSource},
};

/// Profiles from a TOML or YAML document: a list `profiles` of tables with `user_id` (a UUID), `username`, and optionally `bio`
/// and `settings`.
///
/// The whole document is checked when it is read, and all errors are returned at once.
///
/// ```
/// use agcore_profile::{ProfileDocument, UserAgentContext, Uuid};
///
/// let document = ProfileDocument::from_toml(
///     r#"
///     [[profiles]]
///     user_id = "6f1c9d0e-6f0a-4d7e-9a52-0d6b1f2a3c4d"
///     username = "Ada"
///
///     [profiles.settings.preferences]
///     ai_language = "en-GB"
///     "#,
/// )?;
/// # futures_util::FutureExt::now_or_never(async {
/// let user_id = Uuid::from_u128(0x6f1c9d0e_6f0a_4d7e_9a52_0d6b1f2a3c4d);
/// let context = UserAgentContext::load(&document, user_id).await?;
/// assert_eq!(context.settings().preferences().ai_language().as_str(), "en-GB");
/// # Ok::<(), agcore_profile::ProfileError>(())
/// # }).unwrap()?;
/// # Ok::<(), agcore_profile::ProfileError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileDocument {
    records: BTreeMap<Uuid, ProfileRecord>,
}

impl ProfileDocument {
    /// Reads profiles from TOML.
    ///
    /// # Errors
    /// `Syntax` with the line and column if the text is not TOML, and `Invalid` with all wrong fields of all profiles.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        Self::parse(Format::Toml, text)
    }

    /// Reads profiles from YAML 1.2. Anchors and aliases are supported; tags, merge keys and several documents are not.
    ///
    /// # Errors
    /// `Syntax` with the line and column if the text is not such YAML, and `Invalid` with all wrong fields of all profiles.
    pub fn from_yaml(text: &str) -> Result<Self, ProfileError> {
        Self::parse(Format::Yaml, text)
    }

    fn parse(format: Format, text: &str) -> Result<Self, ProfileError> {
        let root = format.parse(text).map_err(|DocumentError { place, kind, .. }| {
            let (line, column) = (place.line, place.column);
            ProfileError::syntax(format!(
                "the profiles cannot be read in line {line}, column {column}: {kind}"
            ))
        })?;
        Self::from_value(&root.to_json())
    }

    fn from_value(value: &Value) -> Result<Self, ProfileError> {
        let mut errors = Vec::new();
        let mut records = BTreeMap::new();
        for (index, value) in list(value, &mut errors).iter().enumerate() {
            let at = format!("profiles[{index}]");
            match record(value) {
                Ok(record) => {
                    let id = record.user_id;
                    if records.insert(id, record).is_some() {
                        let rule = "another profile has this id; ids are unique, so remove one of them";
                        errors.push(FieldError::text("user_id", &id.to_string(), rule).below(&at));
                    }
                }
                Err(wrong) => errors.extend(wrong.into_iter().map(|error| error.below(&at))),
            }
        }
        match errors.is_empty() {
            true => Ok(Self { records }),
            false => Err(ProfileError::invalid(errors)),
        }
    }

    /// Returns the ids of all users, in order.
    pub fn users(&self) -> impl Iterator<Item = Uuid> {
        self.records.keys().copied()
    }
}

#[async_trait]
impl ProfileSource for ProfileDocument {
    async fn profile(&self, user_id: Uuid) -> Result<Option<ProfileRecord>, ProfileError> {
        Ok(self.records.get(&user_id).cloned())
    }
}

fn list<'v>(value: &'v Value, errors: &mut Vec<FieldError>) -> &'v [Value] {
    let Value::Object(members) = value else {
        errors.push(FieldError::json(
            "document",
            value,
            "a table with the list profiles is expected",
        ));
        return &[];
    };
    for (name, value) in members.iter().filter(|(name, _)| *name != "profiles") {
        errors.push(FieldError::json(
            name,
            value,
            "the document has only the member profiles; remove it",
        ));
    }
    match members.get("profiles") {
        Some(Value::Array(profiles)) => profiles,
        Some(other) => {
            errors.push(FieldError::json("profiles", other, "a list of tables is expected"));
            &[]
        }
        None => &[],
    }
}

fn record(value: &Value) -> Result<ProfileRecord, Vec<FieldError>> {
    let empty = Map::new();
    let mut errors = Vec::new();
    let members = value.as_object().unwrap_or_else(|| {
        errors.push(FieldError::json("profile", value, "a table is expected"));
        &empty
    });
    for (name, value) in members {
        if !["user_id", "username", "bio", "settings"].contains(&name.as_str()) {
            let rule = "a profile has only the members user_id, username, bio and settings; remove it";
            errors.push(FieldError::json(name, value, rule));
        }
    }
    let mut text = |name: &str, is_required: bool| match members.get(name) {
        Some(Value::String(text)) => Some(text.as_str()),
        None | Some(Value::Null) if !is_required => None,
        other => {
            let rule = "a text is expected";
            errors.push(FieldError::json(name, other.unwrap_or(&Value::Null), rule));
            None
        }
    };
    let (id, username, bio) = (text("user_id", true), text("username", true), text("bio", false));
    let id = id.and_then(|id| match Uuid::try_parse(id) {
        Ok(id) => Some(id),
        Err(_) => {
            let rule = "a UUID such as 6f1c9d0e-6f0a-4d7e-9a52-0d6b1f2a3c4d is expected";
            errors.push(FieldError::text("user_id", id, rule));
            None
        }
    });
    let settings = members.get("settings").cloned().unwrap_or(Value::Object(Map::new()));
    if let Err(error) = ProfileSettings::from_value(&settings) {
        errors.extend(error.fields().iter().map(|field| match field.field() {
            "settings" => field.clone(),
            _ => field.clone().below("settings"),
        }));
    }
    match (id, username, errors.is_empty()) {
        (Some(user_id), Some(username), true) => Ok(ProfileRecord {
            user_id,
            username: username.to_owned(),
            bio: bio.map(str::to_owned),
            settings,
        }),
        _ => Err(errors),
    }
}
