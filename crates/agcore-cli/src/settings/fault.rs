//! [`Fault`]: what is wrong with the text of a settings file.

use std::fmt;

/// What is wrong, and where. It never quotes what may be a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(pub(super) String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
