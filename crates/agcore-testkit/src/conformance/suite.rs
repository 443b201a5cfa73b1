//! [`Suite`]: checks all behaviors one after another.

use std::{any::Any, borrow::Cow, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;

use super::{
    behavior::Behavior,
    check::check,
    check_context::CheckContext,
    check_error::CheckError,
    grid::{Grid, Verdict},
    mode::Mode,
    subject::Subject,
};

/// The conformance suite: the behaviors to check, and a timeout for each check.
///
/// ```
/// # #[cfg(feature = "scripted")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use std::time::Duration;
/// use agcore_testkit::conformance::{Behavior, ScriptSubject, Suite};
///
/// let suite = Suite::new()
///     .with_behaviors([Behavior::PlainText, Behavior::ParallelCalls])
///     .with_timeout(Duration::from_secs(5));
/// let grid = suite.run(&ScriptSubject::new("scripted")).await;
/// assert_eq!(grid.cells().len(), 4); // two behaviors in two modes
/// grid.assert_passed();
/// # });
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Suite {
    behaviors: Cow<'static, [Behavior]>,
    timeout: Duration,
}

impl Default for Suite {
    fn default() -> Self {
        Self {
            behaviors: Cow::Borrowed(Behavior::ALL),
            timeout: Duration::from_secs(20),
        }
    }
}

impl Suite {
    /// Creates a suite of all behaviors, with a timeout of 20 s for each check.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks only these behaviors.
    pub fn with_behaviors(mut self, behaviors: impl IntoIterator<Item = Behavior>) -> Self {
        self.behaviors = behaviors.into_iter().collect();
        self
    }

    /// Sets the time after which a check fails because the provider hangs, measured on tokio's clock.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Checks the subject. Must be polled on a tokio runtime with timers enabled.
    ///
    /// This method is cancel safe: dropping the future stops the current check together with its provider and server.
    pub async fn run(&self, subject: &dyn Subject) -> Grid {
        let mut grid = Grid::new(subject.name());
        for behavior in self.behaviors.iter().copied() {
            for mode in behavior.modes() {
                let verdict = self.check(subject, behavior, *mode).await;
                grid.push(behavior, *mode, verdict);
            }
        }
        grid
    }

    async fn check(&self, subject: &dyn Subject, behavior: Behavior, mode: Mode) -> Verdict {
        if let Some(reason) = subject.skip_reason(behavior) {
            return Verdict::Skip(reason);
        }
        let checking = Box::pin(check(CheckContext { subject, mode }, behavior));
        let checking = AssertUnwindSafe(checking).catch_unwind();
        match tokio::time::timeout(self.timeout, checking).await {
            Ok(Ok(Ok(()))) => Verdict::Pass,
            Ok(Ok(Err(CheckError::Skip(reason)))) => Verdict::Skip(reason),
            Ok(Ok(Err(CheckError::Fail(reason)))) => Verdict::Fail(reason),
            Ok(Err(panic)) => Verdict::Fail(format!("panicked: {}", panic_message(&*panic))),
            Err(_) => Verdict::Fail(format!("timed out after {} s", self.timeout.as_secs_f64())),
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
