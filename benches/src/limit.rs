//! [`Limit`]: upper bounds for the cost of a client, and targets for improvement.

/// The figure to which a limit applies.
#[derive(Debug, Clone, Copy)]
pub enum Figure {
    /// CPU time relative to another client, both in their best run.
    Cpu {
        /// The other client.
        of: &'static str,
    },
    /// Instructions relative to another client.
    Instructions {
        /// The other client.
        of: &'static str,
    },
    /// Allocations per unit.
    Allocations,
    /// Allocated bytes relative to another client.
    Bytes {
        /// The other client.
        of: &'static str,
    },
    /// The memory of each stream or session in KiB.
    EachKib,
    /// The memory of each stream or session in KiB, minus that of another client.
    EachKibOver {
        /// The other client.
        of: &'static str,
    },
    /// The peak memory of the process in MiB.
    PeakMib,
}

/// A limit for a client in a job.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The name of the job.
    pub job: &'static str,
    /// The name of the client.
    pub client: &'static str,
    /// The limited figure.
    pub figure: Figure,
    /// The upper bound.
    pub required: Option<f64>,
    /// The bound to reach eventually.
    pub target: Option<f64>,
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

/// The limits of agcore's clients.
pub const LIMITS: &[Limit] = &[
    limit("turn", "chat", Figure::Cpu { of: R }, Some(1.15), None),
    limit("turn", "session-new", Figure::Cpu { of: R }, None, Some(1.5)),
    limit("turn", "chat", Figure::Allocations, Some(42.0), None),
    limit("turn", "chat", Figure::PeakMib, None, Some(5.5)),
    limit("loop", "session-new", Figure::Cpu { of: R }, Some(2.2), Some(1.6)),
    limit("loop", "session-new", Figure::Allocations, Some(230.0), None),
    limit("stream", "delta", Figure::Cpu { of: H }, Some(1.3), Some(0.9)),
    limit("stream", "delta", Figure::Allocations, Some(0.1), None),
    limit("stream", "events", Figure::Cpu { of: H }, Some(1.2), None),
    limit("stream", "events", Figure::Allocations, Some(0.2), None),
    limit("anthropic", "delta", Figure::Cpu { of: H }, Some(1.4), None),
    limit("anthropic", "delta", Figure::Allocations, Some(0.1), None),
    limit("responses", "delta", Figure::Cpu { of: H }, Some(1.4), None),
    limit("responses", "delta", Figure::Allocations, Some(0.1), None),
    limit("many", "delta", Figure::Cpu { of: R }, Some(1.2), None),
    limit("many", "delta", Figure::EachKibOver { of: R }, Some(3.0), None),
    limit("many", "delta", Figure::EachKib, None, Some(20.0)),
    limit("many", "events", Figure::EachKib, Some(30.0), None),
    // A pass serializes the body once. A deep copy of the messages would cost the same again.
    limit("history", "chat", Figure::Bytes { of: "pass" }, Some(1.25), None),
    limit("history", "attempt", Figure::Bytes { of: "pass" }, Some(1.25), None),
    limit("history", "session-kept", Figure::Bytes { of: "pass" }, Some(1.5), None),
    limit("idle", "used", Figure::EachKibOver { of: "history" }, Some(2.5), None),
    limit("turn", "chat", Figure::Instructions { of: R }, Some(0.72), None),
    limit("turn", "session-new", Figure::Instructions { of: R }, Some(1.05), None),
    limit("loop", "session-new", Figure::Instructions { of: R }, Some(1.27), None),
    limit("loop", "session-kept", Figure::Instructions { of: R }, Some(1.34), None),
    limit("stream", "delta", Figure::Instructions { of: H }, Some(0.44), None),
    limit("stream", "events", Figure::Instructions { of: H }, Some(0.58), None),
];
