//! [`LanguageTag`]: a registered language in canonical form.

use std::{fmt, str::FromStr};

use icu_locale::{
    LanguageIdentifier, Locale, LocaleCanonicalizer, LocaleExpander, TransformResult,
    subtags::{Language, Region},
};
use language_tags::{LanguageTag as RegisteredTag, ValidationError};
use serde::{Deserialize, Serialize};

use crate::{country::Country, error::FieldError};

const FIELD: &str = "language";

/// The longest tag that is considered at all. The longest tag in practice has about 30 characters.
const MAX_BYTES: usize = 64;

const RULE: &str = "a language is a BCP 47 tag such as zh-CN, en-US or zh-Hant-TW";

/// A language as a BCP 47 tag in canonical form, such as `zh-CN` or `zh-Hant-TW`.
///
/// Each subtag is in the IANA registry. A language has two letters where such a code exists; one with three letters is
/// accepted if CLDR has locale data for it, at least at the level "basic". Extensions, private use and codes that stand for no
/// language or place (`und`, `ZZ`) are refused.
///
/// ```
/// use agcore_profile::LanguageTag;
///
/// assert_eq!("zh-Hant-TW".parse::<LanguageTag>()?.as_str(), "zh-Hant-TW");
/// for wrong in ["zh_CN", "EN", "chn", "zho", "xx-YY"] {
///     assert!(wrong.parse::<LanguageTag>().is_err());
/// }
/// // The error contains the canonical form.
/// assert!("zh_CN".parse::<LanguageTag>().unwrap_err().rule().ends_with("write \"zh-CN\""));
/// # Ok::<(), agcore_profile::FieldError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LanguageTag(String);

impl LanguageTag {
    /// Returns the default language of profiles, `zh-CN`.
    pub(crate) fn default_tag() -> Self {
        Self("zh-CN".to_owned())
    }

    /// Returns the tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// # Errors
/// Fails with the rule that the text violates, and with the canonical form if it has one.
impl FromStr for LanguageTag {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let rule = match check(text) {
            Ok(()) => return Ok(Self(text.to_owned())),
            Err(rule) => rule,
        };
        let rule = match canonical(&text.replace('_', "-")) {
            Some(tag) if text.len() <= MAX_BYTES && check(&tag).is_ok() => format!("{RULE}: write {tag:?}"),
            _ => rule,
        };
        Err(FieldError::text(FIELD, text, rule))
    }
}

fn canonical(text: &str) -> Option<String> {
    let mut locale: Locale = text.parse().ok()?;
    LocaleCanonicalizer::new_extended().canonicalize(&mut locale);
    Some(locale.to_string())
}

/// Checks that a tag is registered and canonical, or returns the rule that it violates.
fn check(text: &str) -> Result<(), String> {
    if text.len() > MAX_BYTES || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(format!(
            "{RULE}, of at most {MAX_BYTES} ASCII letters, digits and hyphens"
        ));
    }
    let registered = RegisteredTag::parse(text).map_err(|_| RULE.to_owned())?;
    registered.validate().map_err(unregistered)?;
    let locale: Locale = text.parse().map_err(|_| RULE.to_owned())?;
    if !locale.extensions.is_empty() {
        return Err(format!("{RULE}, without extensions and private use"));
    }
    if canonical(text).as_deref() != Some(text) {
        return Err(format!("{RULE}, in canonical form"));
    }
    check_language(locale.id.language)?;
    let mut writing = LanguageIdentifier::UNKNOWN;
    writing.script = locale.id.script;
    if writing.script.is_some() && !is_known(writing) {
        return Err(format!("{RULE}; its script is not one that languages are written in"));
    }
    if locale.id.region.is_some_and(|region| !is_place(region)) {
        return Err(format!(
            "{RULE}; its region is not a country or an area of several countries"
        ));
    }
    Ok(())
}

/// Checks that the language is one with locale data, or one with a code of two letters.
fn check_language(language: Language) -> Result<(), String> {
    let mut id = LanguageIdentifier::UNKNOWN;
    id.language = language;
    let has_data = LocaleExpander::new_common().maximize(&mut id.clone()) == TransformResult::Modified;
    let is_short = language.as_str().len() == 2;
    if !language.is_unknown() && (has_data || is_short && is_known(id)) {
        return Ok(());
    }
    Err(format!(
        "{RULE}; a language without a code of two letters is accepted if CLDR has locale data for it"
    ))
}

/// Returns whether CLDR knows what usually goes with a language or script.
fn is_known(mut id: LanguageIdentifier) -> bool {
    let script = id.script;
    let result = LocaleExpander::new_extended().maximize(&mut id);
    // The code for an unknown script is replaced, not completed.
    result == TransformResult::Modified && (script.is_none() || id.script == script)
}

/// Returns whether a registered region is a country, a number, which stands for an area, or Kosovo, for which CLDR uses XK.
fn is_place(region: Region) -> bool {
    let region = region.as_str();
    region.len() == 3 || region == "XK" || region.parse::<Country>().is_ok()
}

fn unregistered(error: ValidationError) -> String {
    let part = match error {
        ValidationError::PrimaryLanguageNotInRegistry => "its language is",
        ValidationError::ScriptNotInRegistry => "its script is",
        ValidationError::RegionNotInRegistry => "its region is",
        ValidationError::VariantNotInRegistry => "one of its variants is",
        ValidationError::ExtendedLanguageNotInRegistry => "its extended language is",
        _ => return format!("{RULE}; this combination of subtags is not valid"),
    };
    format!("{RULE}; {part} not in the IANA registry")
}

impl fmt::Display for LanguageTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for LanguageTag {
    type Error = FieldError;

    fn try_from(text: String) -> Result<Self, FieldError> {
        text.parse()
    }
}

impl From<LanguageTag> for String {
    fn from(tag: LanguageTag) -> Self {
        tag.0
    }
}
