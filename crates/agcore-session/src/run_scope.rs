//! [`RunScope`]: the runs to which a limit belongs.

use std::fmt;

/// The runs to which a limit belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunScope {
    /// The runs of a user, within a line of business.
    User,
    /// The runs of all users of a tenant.
    Tenant,
    /// All runs.
    Total,
}

impl fmt::Display for RunScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "the user",
            Self::Tenant => "the tenant",
            Self::Total => "all users",
        })
    }
}
