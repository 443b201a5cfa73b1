//! Data of sessions beside their conversations: facts for later turns, and what they share with applications.

mod memory;
mod results;
#[cfg(feature = "shared-state")]
mod shared_state;

pub(crate) use self::results::{SessionResults, ShortResults};
#[cfg(feature = "shared-state")]
pub(crate) use self::shared_state::access;
#[cfg(feature = "shared-state")]
pub use self::shared_state::{LocalState, SharedState, SharedStateError, StateChange, StateVersion, UPDATE_STATE};
pub use self::{memory::SessionMemory, results::ResultCompression};
