//! [`ReplayError`]: why a replay stopped.

use std::{error::Error, fmt};

use crate::error::AgentError;

/// The reason a replay stopped.
#[derive(Debug)]
pub struct ReplayError {
    kind: ReplayErrorKind,
    turn: usize,
    problem: String,
    source: Option<AgentError>,
}

/// The kind of a [`ReplayError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplayErrorKind {
    /// The session takes another course than the recorded one.
    Different,
    /// The recorded session contains a step that cannot be replayed.
    Unsupported,
    /// The agent cannot run, for example because it names a tool that is not registered.
    Agent,
}

impl ReplayError {
    pub(super) fn new(kind: ReplayErrorKind, turn: usize, problem: impl Into<String>) -> Self {
        Self {
            kind,
            turn,
            problem: problem.into(),
            source: None,
        }
    }

    pub(super) fn agent(turn: usize, source: AgentError) -> Self {
        Self {
            source: Some(source),
            ..Self::new(ReplayErrorKind::Agent, turn, "the agent cannot run")
        }
    }

    /// Returns the kind of this error.
    pub fn kind(&self) -> ReplayErrorKind {
        self.kind
    }

    /// Returns the number of the turn, from 1; 0 for what happened before the first turn.
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// Returns the difference, or the reason why the turn cannot be replayed.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turn, problem, .. } = self;
        match self.kind {
            ReplayErrorKind::Different => write!(f, "turn {turn} differs from the recording: {problem}"),
            ReplayErrorKind::Unsupported => write!(f, "turn {turn} cannot be replayed: {problem}"),
            ReplayErrorKind::Agent => write!(
                f,
                "turn {turn} cannot be replayed: {problem}; check its settings and tools"
            ),
        }
    }
}

impl Error for ReplayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
