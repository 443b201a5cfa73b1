//! [`Violations`]: answers that a store must not give.

/// The number of violations that are described.
const DESCRIBED: usize = 10;

/// Answers that a store must not give.
#[derive(Debug, Clone, Default)]
pub struct Violations {
    /// Their number.
    pub count: u64,
    /// The first of them.
    pub first: Vec<String>,
}

impl Violations {
    /// Adds a violation, unless a condition holds.
    pub(crate) fn unless(&mut self, condition: bool, describe: impl FnOnce() -> String) {
        if condition {
            return;
        }
        self.count += 1;
        if self.first.len() < DESCRIBED {
            self.first.push(describe());
        }
    }
}
