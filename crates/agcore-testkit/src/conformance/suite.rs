//! [`Suite`]: all behaviours, checked one after the other.

use std::{any::Any, borrow::Cow, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;

use super::{
    behaviour::Behaviour,
    check::check,
    grid::{Grid, Verdict},
    halt::Halt,
    mode::Mode,
    scene::Trial,
    subject::Subject,
};

/// The suite: which behaviours are checked, and how long each may take.
#[derive(Debug, Clone)]
#[must_use]
pub struct Suite {
    behaviours: Cow<'static, [Behaviour]>,
    patience: Duration,
}

impl Default for Suite {
    fn default() -> Self {
        Self {
            behaviours: Cow::Borrowed(Behaviour::ALL),
            patience: Duration::from_secs(20),
        }
    }
}

impl Suite {
    /// All behaviours, with 20 s for each check.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks only these.
    pub fn with_behaviours(mut self, behaviours: impl IntoIterator<Item = Behaviour>) -> Self {
        self.behaviours = behaviours.into_iter().collect();
        self
    }

    /// Sets how long a check may take on tokio's clock before the provider is said to hang.
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Puts the subject to the test. Must be polled on a tokio runtime with a timer. Cancel safe: dropping the future
    /// ends the check under way with its provider and server.
    pub async fn run(&self, subject: &dyn Subject) -> Grid {
        let mut grid = Grid::new(subject.name());
        for behaviour in self.behaviours.iter().copied() {
            for mode in behaviour.modes() {
                let verdict = self.judge(subject, behaviour, *mode).await;
                grid.push(behaviour, *mode, verdict);
            }
        }
        grid
    }

    async fn judge(&self, subject: &dyn Subject, behaviour: Behaviour, mode: Mode) -> Verdict {
        if let Some(reason) = subject.skips(behaviour) {
            return Verdict::Skip(reason);
        }
        let checking = Box::pin(check(Trial { subject, mode }, behaviour));
        let checking = AssertUnwindSafe(checking).catch_unwind();
        match tokio::time::timeout(self.patience, checking).await {
            Ok(Ok(Ok(()))) => Verdict::Pass,
            Ok(Ok(Err(Halt::Skip(reason)))) => Verdict::Skip(reason),
            Ok(Ok(Err(Halt::Fail(reason)))) => Verdict::Fail(reason),
            Ok(Err(panic)) => Verdict::Fail(format!("it panicked: {}", panic_text(&*panic))),
            Err(_) => Verdict::Fail(format!("no end within {} s", self.patience.as_secs_f64())),
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without words")
}
