//! [`Requirement`]: a figure with its limit.

use std::fmt;

/// A figure, and its limit.
pub(crate) struct Requirement {
    pub(crate) name: &'static str,
    pub(crate) measured: f64,
    /// The unit, or `× floor`.
    pub(crate) unit: &'static str,
    pub(crate) at_most: Option<f64>,
}

/// Prints a row of a table.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name, measured, unit, ..
        } = self;
        match self.at_most {
            Some(limit) => {
                let verdict = if *measured <= limit { "met" } else { "**missed**" };
                write!(f, "| {name} | {measured:.2} {unit} | ≤ {limit} {unit} | {verdict} |")
            }
            None => write!(f, "| {name} | {measured:.2} {unit} | | |"),
        }
    }
}

/// Prints a table.
#[expect(clippy::print_stdout, reason = "a benchmark prints its results")]
pub(crate) fn print(requirements: &[Requirement]) {
    println!("\n| limit | measured | required | |\n|---|---|---|---|");
    for requirement in requirements {
        println!("{requirement}");
    }
}
