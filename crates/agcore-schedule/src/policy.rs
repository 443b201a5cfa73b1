//! [`CatchUp`] and [`Overlap`]: what happens to occurrences that cannot be started in time.

use serde::{Deserialize, Serialize};

use crate::error::ScheduleError;

/// The maximum number of missed occurrences that are made up for.
const MAX_UP_TO: u32 = 100;

/// The policy for occurrences that no process was there to start.
///
/// An occurrence is late a minute after its time. With [`Overlap::Queue`], the time during which it has waited for an earlier run
/// does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CatchUp {
    /// Those that are late are skipped. Of several that are due, only the last can start.
    Skip,
    /// The last one is started, however late it is. The others are skipped.
    #[default]
    Once,
    /// The last ones are started one after the other. Requires [`Overlap::Queue`].
    All {
        /// The maximum number of occurrences that are started, from 1 to 100. Earlier ones are skipped.
        up_to: u32,
    },
}

/// The policy for an occurrence if the run of the occurrence before is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Overlap {
    /// It is skipped.
    #[default]
    Skip,
    /// It waits until that run is over.
    Queue,
    /// That run is cancelled, and the occurrence is started.
    Interrupt,
}

impl CatchUp {
    /// Checks that the policy is acceptable, and fits the other one.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::ScheduleErrorKind::InvalidInput) with the reason.
    pub fn check(self, overlap: Overlap) -> Result<(), ScheduleError> {
        match self {
            Self::Skip | Self::Once => Ok(()),
            Self::All { .. } if overlap != Overlap::Queue => Err(ScheduleError::invalid(
                "all missed occurrences can be made up for only one after the other: set `overlap` to `queue`",
            )),
            Self::All { up_to: 1..=MAX_UP_TO } => Ok(()),
            Self::All { up_to } => Err(ScheduleError::invalid(format!(
                "`up_to` is {up_to}, which is not acceptable; use 1 to {MAX_UP_TO}"
            ))),
        }
    }

    /// Returns the maximum number of due occurrences that are started.
    pub(crate) fn limit(self) -> usize {
        match self {
            Self::Skip | Self::Once => 1,
            Self::All { up_to } => usize::try_from(up_to).unwrap_or(usize::MAX),
        }
    }
}

impl Overlap {
    /// Returns the name under which stores keep the policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Queue => "queue",
            Self::Interrupt => "interrupt",
        }
    }

    /// Returns the policy with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Skip, Self::Queue, Self::Interrupt]
            .into_iter()
            .find(|overlap| overlap.as_str() == name)
    }
}
