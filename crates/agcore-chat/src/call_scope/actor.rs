//! [`Actor`]: the tenant and user on whose behalf a call is made.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    id::{self, IdError},
    small_text::Text,
};

/// The tenant and user on whose behalf a call is made: the owner of grants, audit records, memory, keys and sessions.
///
/// A program without users of its own does not have to set one: the default is [`local`](Self::local).
///
/// ```
/// use agcore_chat::Actor;
///
/// let ann = Actor::new("acme", "ann").with_line("support");
/// assert_eq!(ann.to_string(), "acme/ann (support)");
/// assert_eq!(Actor::default(), Actor::local());
/// assert_eq!(Actor::user("ann"), Actor::new("local", "ann"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Actor {
    /// The tenant: a customer of a service, whose data must be kept apart from that of other customers.
    pub tenant: Text,
    /// The user, unique within the tenant.
    pub user: Text,
    /// The line of business for which the user acts, if the application distinguishes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Text>,
}

impl Actor {
    /// The actor of programs without users, as a constant.
    pub const LOCAL: Self = Self {
        tenant: Text::short("local"),
        user: Text::short("local"),
        line: None,
    };

    /// Creates an actor from a tenant and a user.
    pub fn new(tenant: impl Into<Text>, user: impl Into<Text>) -> Self {
        Self {
            tenant: tenant.into(),
            user: user.into(),
            line: None,
        }
    }

    /// Creates the actor of a user in a program without tenants.
    pub fn user(user: impl Into<Text>) -> Self {
        Self {
            user: user.into(),
            ..Self::LOCAL
        }
    }

    /// Returns the actor of programs without users: the tenant `local` and the user `local`.
    pub fn local() -> Self {
        Self::LOCAL
    }

    /// Sets the line of business.
    #[must_use]
    pub fn with_line(mut self, line: impl Into<Text>) -> Self {
        self.line = Some(line.into());
        self
    }

    /// Checks that every store can keep the actor as an owner: each part must be acceptable as an [id](mod@id).
    ///
    /// # Errors
    /// The first part that is not acceptable, with the reason.
    pub fn check(&self) -> Result<(), IdError> {
        id::check_named("the tenant", &self.tenant)?;
        id::check_named("the user", &self.user)?;
        let line = self.line.as_ref();
        line.map_or(Ok(()), |line| id::check_named("the line of business", line))
    }
}

impl Default for Actor {
    fn default() -> Self {
        Self::LOCAL
    }
}

/// Formats the actor like `acme/ann (support)`, for people: the parts are not escaped.
impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.tenant, self.user)?;
        match &self.line {
            Some(line) => write!(f, " ({line})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_without_an_empty_line() {
        let ann = Actor::new("acme", "ann");
        let json = r#"{"tenant":"acme","user":"ann"}"#;
        assert_eq!(serde_json::to_string(&ann).unwrap(), json);
        assert_eq!(serde_json::from_str::<Actor>(json).unwrap(), ann);
        let line = ann.with_line("support");
        let json = serde_json::to_string(&line).unwrap();
        assert_eq!(json, r#"{"tenant":"acme","user":"ann","line":"support"}"#);
        assert_eq!(serde_json::from_str::<Actor>(&json).unwrap(), line);
    }

    #[test]
    fn different_parts_make_different_actors() {
        assert_ne!(Actor::new("a", "b/c"), Actor::new("a/b", "c"));
        assert_ne!(Actor::user("ann"), Actor::user("ann").with_line("support"));
    }
}
