//! [`StopCheck`]: decides directly before each call of a model or a tool whether it may begin.

use std::{fmt, sync::Arc};

/// A check of whether work has to stop, for a reason that the process learns only when it looks: for example, that its lease has
/// expired while it was stopped.
///
/// A cancelled token stops work as well, but a task has to cancel it, and after a pause of the process, that task may run later
/// than the work. Turns, tools and flows therefore ask this check directly before each call of a model or a tool. If it returns
/// `true`, the call does not begin, and the work ends as if its token was cancelled.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
/// use agcore_chat::StopCheck;
///
/// let expired = Arc::new(AtomicBool::new(false));
/// let check = StopCheck::new({
///     let expired = Arc::clone(&expired);
///     move || expired.load(Ordering::Relaxed)
/// });
/// assert!(!check.must_stop());
/// expired.store(true, Ordering::Relaxed);
/// assert!(check.must_stop());
/// ```
#[derive(Clone)]
pub struct StopCheck(Arc<dyn Fn() -> bool + Send + Sync>);

impl StopCheck {
    /// Creates a check from a function that returns whether the work has to stop. It is called often and must not block.
    pub fn new(must_stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(must_stop))
    }

    /// Returns whether the work has to stop.
    pub fn must_stop(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for StopCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopCheck").field(&self.must_stop()).finish()
    }
}
