//! [`Requirement`]: a ratio with its limit.

use std::fmt;

/// The ratio of two figures of agcore and rmcp, and its limit.
pub(crate) struct Requirement {
    pub(crate) name: String,
    pub(crate) measured: f64,
    pub(crate) at_most: Option<f64>,
}

/// Prints a row of a table.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, measured, .. } = self;
        match self.at_most {
            Some(limit) => {
                let verdict = if *measured <= limit { "met" } else { "**missed**" };
                write!(f, "| {name} | {measured:.2} × rmcp | ≤ {limit} × rmcp | {verdict} |")
            }
            None => write!(f, "| {name} | {measured:.2} × rmcp | | |"),
        }
    }
}
