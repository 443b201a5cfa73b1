//! A stage: one command whose checks are counted, alone or as a part of `ci`.

use std::time::Instant;

use crate::report::Report;
use crate::summary::{self, Line};
use crate::workspace::Workspace;
use crate::{clippy, deny, docs, features, fmt, fuzz, graph, test, tidy};

/// What can be run and counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    Fmt,
    Clippy,
    Docs,
    Test,
    Graph {
        /// Compare the picture instead of drawing it.
        frozen: bool,
        /// Names of checks; all when empty.
        only: Vec<String>,
    },
    Tidy {
        /// Names of checks; all when empty.
        only: Vec<String>,
    },
    Deny,
    Features,
    FuzzSmoke,
}

impl Stage {
    /// The stages of `ci`, in order. Those that build with the same features
    /// follow each other; those that build with other ones come last.
    pub(crate) fn ci() -> Vec<Self> {
        vec![
            Self::Fmt,
            Self::Clippy,
            Self::Docs,
            Self::Test,
            Self::Graph {
                frozen: true,
                only: Vec::new(),
            },
            Self::Tidy { only: Vec::new() },
            Self::Deny,
            Self::Features,
            Self::FuzzSmoke,
        ]
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Docs => "docs",
            Self::Test => "test",
            Self::Graph { .. } => "graph",
            Self::Tidy { .. } => "tidy",
            Self::Deny => "deny",
            Self::Features => "features",
            Self::FuzzSmoke => "fuzz",
        }
    }

    fn run(&self, workspace: &Workspace, report: &mut Report) {
        match self {
            Self::Fmt => fmt::run(workspace, report),
            Self::Clippy => clippy::run(workspace, report),
            Self::Docs => docs::run(workspace, report),
            Self::Test => test::run(workspace, report),
            Self::Graph { frozen, only } => graph::run(workspace, *frozen, only, report),
            Self::Tidy { only } => tidy::run(workspace, only, report),
            Self::Deny => deny::run(workspace, report),
            Self::Features => features::run(workspace, report),
            Self::FuzzSmoke => fuzz::smoke(workspace, report),
        }
    }
}

/// Runs the stages one after the other, whatever becomes of them, and prints
/// the summary. `false` when anything failed.
pub(crate) fn run(stages: &[Stage], workspace: &Workspace) -> bool {
    let mut lines = Vec::new();
    for stage in stages {
        println!("\n== {}", stage.name());
        let started = Instant::now();
        let mut report = Report::default();
        stage.run(workspace, &mut report);
        lines.push(Line {
            stage: stage.name(),
            time: started.elapsed(),
            report,
        });
    }
    println!("{}", summary::render(&lines));
    summary::is_green(&lines)
}
