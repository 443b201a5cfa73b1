//! [`Limit`]: what a client must not cost more than, and what it shall come down to.

/// What is limited.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Figure {
    /// CPU time as a share of another client's.
    Cpu { of: &'static str },
    /// Allocations for each unit.
    Allocations,
    /// Bytes allocated, as a share of another client's.
    Bytes { of: &'static str },
    /// Memory of a stream in KiB.
    StreamKib,
    /// Memory of a stream in KiB beyond another client's.
    StreamKibOver { of: &'static str },
}

/// A limit of a client in a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) job: &'static str,
    pub(crate) client: &'static str,
    pub(crate) figure: Figure,
    pub(crate) must: Option<f64>,
    pub(crate) aim: Option<f64>,
}

const fn limit(job: &'static str, client: &'static str, figure: Figure, must: Option<f64>, aim: Option<f64>) -> Limit {
    Limit {
        job,
        client,
        figure,
        must,
        aim,
    }
}

const H: &str = "H";
const R: &str = "R";

/// All limits.
pub(crate) const LIMITS: &[Limit] = &[
    limit("turn", "chat", Figure::Cpu { of: R }, Some(1.25), None),
    limit("turn", "chat", Figure::Cpu { of: H }, None, Some(1.5)),
    limit("turn", "chat", Figure::Allocations, Some(90.0), Some(40.0)),
    limit("loop", "session", Figure::Cpu { of: R }, Some(2.2), None),
    limit("loop", "session", Figure::Cpu { of: H }, None, Some(2.5)),
    limit("loop", "session", Figure::Allocations, Some(600.0), Some(250.0)),
    limit("stream", "delta", Figure::Cpu { of: H }, Some(1.3), Some(0.9)),
    limit("stream", "delta", Figure::Allocations, Some(3.0), Some(0.1)),
    limit("stream", "events", Figure::Cpu { of: H }, Some(1.8), Some(1.3)),
    limit("stream", "events", Figure::Allocations, Some(5.0), None),
    limit("anthropic", "delta", Figure::Cpu { of: H }, Some(1.4), None),
    limit("anthropic", "delta", Figure::Allocations, Some(3.0), Some(0.1)),
    limit("responses", "delta", Figure::Cpu { of: H }, Some(1.4), None),
    limit("responses", "delta", Figure::Allocations, Some(3.0), Some(0.1)),
    limit("many", "delta", Figure::Cpu { of: R }, Some(1.2), None),
    limit("many", "delta", Figure::StreamKibOver { of: R }, Some(3.0), None),
    limit("many", "delta", Figure::StreamKib, None, Some(20.0)),
    // One pass writes the body once; a deep copy of the messages would cost as much again.
    limit("history", "chat", Figure::Bytes { of: "pass" }, Some(1.25), None),
    limit("history", "attempt", Figure::Bytes { of: "pass" }, Some(1.25), None),
    limit("history", "session", Figure::Bytes { of: "pass" }, Some(1.5), None),
];
