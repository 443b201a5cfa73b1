//! [`Limit`]: upper bounds for the cost of a client, and targets for improvement.

/// The figure to which a limit applies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Figure {
    /// CPU time relative to another client.
    Cpu { of: &'static str },
    /// Allocations per unit.
    Allocations,
    /// Allocated bytes relative to another client.
    Bytes { of: &'static str },
    /// Memory per stream in KiB.
    StreamKib,
    /// Memory per stream in KiB, minus that of another client.
    StreamKibOver { of: &'static str },
}

/// A limit for a client in a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) job: &'static str,
    pub(crate) client: &'static str,
    pub(crate) figure: Figure,
    /// The upper bound.
    pub(crate) required: Option<f64>,
    /// The bound to reach eventually.
    pub(crate) target: Option<f64>,
}

const fn limit(
    job: &'static str,
    client: &'static str,
    figure: Figure,
    required: Option<f64>,
    target: Option<f64>,
) -> Limit {
    Limit {
        job,
        client,
        figure,
        required,
        target,
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
    // A pass serializes the body once. A deep copy of the messages would cost the same again.
    limit("history", "chat", Figure::Bytes { of: "pass" }, Some(1.25), None),
    limit("history", "attempt", Figure::Bytes { of: "pass" }, Some(1.25), None),
    limit("history", "session", Figure::Bytes { of: "pass" }, Some(1.5), None),
];
