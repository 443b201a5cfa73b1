//! User profiles for agents: validated preferences, versioned settings, and the system prompt that describes a user.
//!
//! ```
//! use agcore_profile::ProfileSettings;
//!
//! let settings = ProfileSettings::from_json(r#"{"preferences": {"ai_language": "en-GB", "timezone": "Europe/London"}}"#)?;
//! assert_eq!(settings.preferences().ai_language().as_str(), "en-GB");
//! // What is missing has a default.
//! assert_eq!(settings.preferences().country().as_str(), "CN");
//!
//! // An error names every wrong field, its value and the rule.
//! let error = ProfileSettings::from_json(r#"{"preferences": {"timezone": "CST", "country": "USA"}}"#).unwrap_err();
//! let fields: Vec<&str> = error.fields().iter().map(|field| field.field()).collect();
//! assert_eq!(fields, ["preferences.timezone", "preferences.country"]);
//! # Ok::<(), agcore_profile::ProfileError>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read, upgrade and write settings | [`ProfileSettings`] |
//! | check one value | [`LanguageTag`], [`TimeZone`], [`Country`] |
//! | load profiles from a place of your own | [`ProfileSource`] |
//! | describe a user to a model | [`UserAgentContext`] and [`build_global_system_prompt`] |
//!
//! The registries of languages, time zones and countries are part of the program: nothing is looked up over a network or in
//! the files of the system. The crate needs no async runtime and builds for wasm32.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `documents` | Profiles from TOML and YAML documents. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod country;
mod language;
mod time_zone;
mod preferences;
mod settings;
mod source;
#[cfg(feature = "documents")]
mod document;
mod context;
mod system_prompt;

pub use context::UserAgentContext;
pub use country::Country;
#[cfg(feature = "documents")]
pub use document::ProfileDocument;
pub use error::{FieldError, ProfileError, ProfileErrorKind};
pub use language::LanguageTag;
pub use preferences::Preferences;
pub use settings::{ProfileSettings, SettingsVersion};
pub use source::{ProfileRecord, ProfileSource};
pub use system_prompt::build_global_system_prompt;
pub use time_zone::TimeZone;

#[doc(no_inline)]
pub use uuid::Uuid;
