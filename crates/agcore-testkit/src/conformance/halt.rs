//! [`Halt`]: why a check did not come to a good end.

use std::fmt;

/// Why a check did not come to a good end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt {
    /// It cannot be made here.
    Skip(String),
    /// The provider does not do what it shall.
    Fail(String),
}

impl Halt {
    /// Cannot be made here, for this reason.
    pub fn skip(reason: impl Into<String>) -> Self {
        Self::Skip(reason.into())
    }

    /// The provider does not do what it shall.
    pub fn fail(reason: impl Into<String>) -> Self {
        Self::Fail(reason.into())
    }
}

/// Fails with a reason unless `holds`.
pub(super) fn ensure(holds: bool, reason: impl FnOnce() -> String) -> Result<(), Halt> {
    if holds { Ok(()) } else { Err(Halt::Fail(reason())) }
}

/// Fails unless what was found is what was expected.
pub(super) fn same<T: PartialEq + fmt::Debug + ?Sized>(what: &str, found: &T, expected: &T) -> Result<(), Halt> {
    ensure(found == expected, || {
        format!("{what}: found {found:?}, expected {expected:?}")
    })
}
