//! [`ProfileError`] and [`FieldError`]: the errors of an invalid profile.

use std::{error::Error, fmt};

/// The number of characters of a value that an error shows.
const SHOWN_CHARS: usize = 64;

/// A value that is refused: the field, the value and the rule that it violates.
///
/// ```
/// use agcore_profile::TimeZone;
///
/// let error = "GMT+8".parse::<TimeZone>().unwrap_err().in_field("preferences.timezone");
/// assert_eq!(error.field(), "preferences.timezone");
/// assert_eq!(error.value(), "\"GMT+8\"");
/// assert!(error.to_string().starts_with("preferences.timezone: \"GMT+8\" is refused: "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    field: String,
    value: String,
    rule: String,
}

impl FieldError {
    /// Creates the error of a text value.
    pub(crate) fn text(field: &str, value: &str, rule: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            value: shown(value),
            rule: rule.into(),
        }
    }

    /// Creates the error of a JSON value.
    pub(crate) fn json(field: &str, value: &serde_json::Value, rule: impl Into<String>) -> Self {
        if let serde_json::Value::String(text) = value {
            return Self::text(field, text, rule);
        }
        let value = match value {
            serde_json::Value::Array(items) => format!("an array of {}", items.len()),
            serde_json::Value::Object(members) => format!("an object with {} members", members.len()),
            scalar => scalar.to_string().chars().take(SHOWN_CHARS).collect(),
        };
        Self {
            field: field.to_owned(),
            value,
            rule: rule.into(),
        }
    }

    /// Sets the path of the field.
    #[must_use]
    pub fn in_field(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }

    /// Puts a path in front of that of the field.
    #[cfg(feature = "documents")]
    pub(crate) fn below(mut self, parent: &str) -> Self {
        self.field = format!("{parent}.{}", self.field);
        self
    }

    /// Returns the path of the field, such as `preferences.timezone`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the value as it is shown: quoted and escaped if it is a text, and shortened if it is long.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns the rule, with an example or the value to write instead.
    pub fn rule(&self) -> &str {
        &self.rule
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is refused: {}", self.field, self.value, self.rule)
    }
}

impl Error for FieldError {}

/// Quotes a text, escapes control characters and marks of direction, and shortens it.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
    }
}

/// The kind of a [`ProfileError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProfileErrorKind {
    /// The text is not JSON, TOML or YAML.
    Syntax,
    /// Fields are wrong; [`ProfileError::fields`] has all of them.
    Invalid,
    /// The source has no profile of this user.
    NotFound,
    /// The source could not be read. The same call may succeed later.
    Unavailable,
}

/// A profile that could not be read.
#[derive(Debug)]
pub struct ProfileError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ProfileErrorKind,
    message: String,
    fields: Vec<FieldError>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ProfileError {
    /// Creates the error of a source that could not be read.
    pub fn unavailable(message: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(
            ProfileErrorKind::Unavailable,
            message.into(),
            Vec::new(),
            Some(source.into()),
        )
    }

    pub(crate) fn syntax(message: impl Into<String>) -> Self {
        Self::new(ProfileErrorKind::Syntax, message.into(), Vec::new(), None)
    }

    pub(crate) fn not_found(user: uuid::Uuid) -> Self {
        let message = format!("the source has no profile of the user {user}; create it, or check the id");
        Self::new(ProfileErrorKind::NotFound, message, Vec::new(), None)
    }

    /// Creates the error of at least one wrong field.
    pub(crate) fn invalid(fields: Vec<FieldError>) -> Self {
        let mut message = match fields.len() {
            1 => String::from("a field of the profile is wrong: "),
            count => format!("{count} fields of the profile are wrong: "),
        };
        for (index, field) in fields.iter().enumerate() {
            message.push_str(if index == 0 { "" } else { "; " });
            message.push_str(&field.to_string());
        }
        Self::new(ProfileErrorKind::Invalid, message, fields, None)
    }

    fn new(
        kind: ProfileErrorKind,
        message: String,
        fields: Vec<FieldError>,
        source: Option<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self(Box::new(Inner {
            kind,
            message,
            fields,
            source,
        }))
    }

    /// Returns the kind.
    pub fn kind(&self) -> ProfileErrorKind {
        self.0.kind
    }

    /// Returns all wrong fields, in the order of the document. Empty unless the kind is `Invalid`.
    pub fn fields(&self) -> &[FieldError] {
        &self.0.fields
    }

    /// Returns whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.0.kind == ProfileErrorKind::Unavailable
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl Error for ProfileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.0.source.as_deref()?;
        Some(source)
    }
}

impl From<FieldError> for ProfileError {
    fn from(field: FieldError) -> Self {
        Self::invalid(vec![field])
    }
}
