//! [`Requirement`]: a figure with its limit.

use std::fmt;

/// A figure, and the most that it may be.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// The name.
    pub name: &'static str,
    /// The figure.
    pub measured: f64,
    /// The unit.
    pub unit: &'static str,
    /// The limit.
    pub at_most: f64,
}

impl Requirement {
    /// Returns whether the figure is within its limit.
    pub fn is_met(&self) -> bool {
        self.measured <= self.at_most
    }
}

/// Prints a row of a table.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_met() { "met" } else { "**missed**" };
        let Self {
            name,
            measured,
            unit,
            at_most,
        } = self;
        write!(f, "| {name} | {measured:.2}{unit} | ≤ {at_most}{unit} | {verdict} |")
    }
}
