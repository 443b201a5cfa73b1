//! [`Hold`]: the right to drive a session, which one holder has at a time or several share, and [`Holder`], who that is.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use agcore_chat::Timestamp;

/// The right to drive a session, or to do other work that only one holder may do at a time, or that excludes such work. See
/// [`SessionWriter::hold`](crate::SessionWriter::hold) and [`SessionWriter::hold_shared`](crate::SessionWriter::hold_shared).
///
/// Dropping it releases the right at once; others may see that some milliseconds later.
#[must_use = "the right is released when this is dropped"]
pub struct Hold(Option<Box<dyn HoldGuard>>);

/// The part of a [`Hold`] that belongs to a store. Dropping it releases the right.
pub trait HoldGuard: Send + Sync {
    /// Returns whether the right was lost, so that another holder may have it: the connection to the database broke, and when it
    /// was there again, somebody else was faster.
    fn is_lost(&self) -> bool;
}

/// The program that drives a session or uses a database, and since when.
///
/// ```
/// use agcore_session::{Holder, Timestamp};
///
/// let holder = Holder::new("agcore serve", Timestamp::from_millis(0)).with_process(4711);
/// assert_eq!(holder.to_string(), "agcore serve (process 4711) since 1970-01-01T00:00:00.000Z");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Holder {
    /// The program, as it was named when the store was opened.
    pub program: String,
    /// The id of the process, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// The network address of the machine, as the database sees it, if it is another than that of the database. It is for
    /// operators and not part of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The time since which the holder has it.
    pub since: Timestamp,
}

impl Hold {
    /// Creates a hold from the guard of a store.
    pub fn new(guard: impl HoldGuard + 'static) -> Self {
        Self(Some(Box::new(guard)))
    }

    /// Creates a hold that guards nothing, for a holder who has the right already.
    pub const fn granted() -> Self {
        Self(None)
    }

    /// Returns whether the right was lost, so that another holder may have it. What a session writes after that is refused.
    pub fn is_lost(&self) -> bool {
        self.0.as_ref().is_some_and(|guard| guard.is_lost())
    }
}

/// A hold that several share is released with the last of them.
impl HoldGuard for Arc<Hold> {
    fn is_lost(&self) -> bool {
        (**self).is_lost()
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("is_lost", &self.is_lost())
            .finish_non_exhaustive()
    }
}

impl Holder {
    /// Creates the description of a holder.
    pub fn new(program: impl Into<String>, since: Timestamp) -> Self {
        Self {
            program: program.into(),
            process: None,
            address: None,
            since,
        }
    }

    /// Sets the id of the process.
    #[must_use]
    pub fn with_process(mut self, process: u32) -> Self {
        self.process = Some(process);
        self
    }

    /// Sets the network address of the machine.
    #[must_use]
    pub fn with_address(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        if let Some(process) = self.process {
            write!(f, " (process {process})")?;
        }
        write!(f, " since {}", self.since)
    }
}
