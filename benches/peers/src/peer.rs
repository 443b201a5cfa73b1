//! [`Peer`]: another library with its programs for the jobs of the comparison.

use agcore_benches::{Fallible, figures::Figures, job::Task};

/// A library. Each function runs one job of `agcore-benches`.
#[derive(Debug)]
pub struct Peer {
    /// The name of the client in all jobs, which is that of the feature.
    pub name: &'static str,
    /// Whole turns.
    pub turn: fn(&Task<'_>) -> Fallible<Figures>,
    /// Loops of two requests and three tools that run in parallel.
    pub tool_loop: fn(&Task<'_>) -> Fallible<Figures>,
    /// Streamed replies.
    pub stream: fn(&Task<'_>) -> Fallible<Figures>,
    /// Turns with this many questions and answers before them.
    pub history: fn(&Task<'_>, u32) -> Fallible<Figures>,
}

/// The peers that this program was built with.
const PEERS: &[Peer] = &[
    #[cfg(feature = "adk-rust")]
    crate::adk_rust::PEER,
    #[cfg(feature = "async-openai")]
    crate::async_openai::PEER,
    #[cfg(feature = "genai")]
    crate::genai::PEER,
    #[cfg(feature = "rig")]
    crate::rig::PEER,
];

impl Peer {
    /// Returns the peer with this name, if this program was built with it.
    pub fn find(name: &str) -> Option<&'static Self> {
        PEERS.iter().find(|peer| peer.name == name)
    }
}
