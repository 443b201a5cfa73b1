//! [`Timeline`]: what a run has done, as spans in the order of a tree.

mod span;
mod order;
mod fold;
mod reader;
#[cfg(feature = "console")]
mod inspect;

#[cfg(feature = "console")]
pub(crate) use self::reader::TimelineReader;
pub(crate) use self::span::{Span, SpanKind, SpanStatus};

use super::listed::RunReport;

/// The spans of a run.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) report: RunReport,
    /// The spans, each after the one that contains it. The first one is the run.
    pub(crate) spans: Vec<Span>,
    /// The number of events that were read.
    pub(crate) events: usize,
    /// Whether the run has more events than are read.
    pub(crate) is_cut: bool,
}
