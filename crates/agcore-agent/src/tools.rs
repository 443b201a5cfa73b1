//! Tools for models that come with the crate, and what tools do to the session in which they run.

mod bill;
#[cfg(feature = "knowledge")]
mod knowledge;
mod memory;

#[cfg(feature = "knowledge")]
pub use self::knowledge::KnowledgeTools;
pub use self::{bill::bill_calls, memory::SessionMemoryTools};
