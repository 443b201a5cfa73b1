//! Reports: the results of an evaluation, and what has changed between two.

mod results;
mod diff;
#[cfg(feature = "junit")]
mod junit;

pub use self::{
    diff::{CaseChange, Change, ReportDiff},
    results::{CaseResult, Report},
};
