//! [`Scope`]: whose credentials an operation needs.

/// Whose credentials an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// None.
    Public,
    /// Those of a user, if the server has authenticators.
    User,
    /// Those of an administrator. One of some tenants reaches only operations with these in their path, and the list of tenants.
    Administrator,
    /// Those of an administrator of all tenants.
    Operator,
}

/// The part of a server that decides about the description of its operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Described {
    /// Whether users need credentials.
    pub(crate) needs_token: bool,
    /// Whether the server has administrators. Without them, it has no operations for them.
    pub(crate) has_administrators: bool,
}

impl Scope {
    /// Returns whether the operation is one for administrators.
    pub(crate) const fn is_administrative(self) -> bool {
        matches!(self, Self::Administrator | Self::Operator)
    }
}

impl Described {
    /// Returns whether the server has an operation of a scope.
    pub(crate) const fn has(self, scope: Scope) -> bool {
        self.has_administrators || !scope.is_administrative()
    }

    /// Returns the name of the credentials that an operation needs.
    pub(super) const fn credentials(self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Public => None,
            Scope::User if self.needs_token => Some("token"),
            Scope::User => None,
            Scope::Administrator | Scope::Operator => Some("administrator"),
        }
    }
}
