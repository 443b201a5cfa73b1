//! A stage: one command whose checks are counted, on its own or as a part of `ci`.

use std::time::Instant;

use crate::report::Report;
use crate::summary::{self, Line};
use crate::workspace::Workspace;
use crate::{deny, features, generate, graph, limits, lints, platforms, test, tidy};

/// A group of checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    Fmt,
    Clippy,
    Docs,
    Test,
    Graph {
        /// Whether to compare `docs/graph.md` instead of writing it.
        check: bool,
        /// Names of checks; all if empty.
        only: Vec<String>,
    },
    Tidy {
        /// Names of checks; all if empty.
        only: Vec<String>,
        /// The commits that are checked, as git writes a range; a default if `None`.
        range: Option<String>,
    },
    Generate {
        /// Whether to compare the generated files instead of writing them.
        check: bool,
    },
    Deny,
    Features,
    Platforms,
    Limits,
}

impl Stage {
    /// Returns the stages of `ci` in order. Stages that build with the same features follow each other; those that
    /// build with other features come last.
    pub(crate) fn ci() -> Vec<Self> {
        vec![
            Self::Fmt,
            Self::Tidy {
                only: Vec::new(),
                range: None,
            },
            Self::Graph {
                check: true,
                only: Vec::new(),
            },
            Self::Clippy,
            Self::Docs,
            Self::Test,
            Self::Features,
            Self::Platforms,
            Self::Limits,
            Self::Deny,
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
            Self::Generate { .. } => "gen",
            Self::Deny => "deny",
            Self::Features => "features",
            Self::Platforms => "platforms",
            Self::Limits => "limits",
        }
    }

    fn run(&self, workspace: &Workspace, report: &mut Report) {
        match self {
            Self::Fmt => lints::fmt(workspace, report),
            Self::Clippy => lints::clippy(workspace, report),
            Self::Docs => lints::docs(workspace, report),
            Self::Test => test::run(workspace, report),
            Self::Graph { check, only } => graph::run(workspace, *check, only, report),
            Self::Tidy { only, range } => tidy::run(workspace, only, range.as_deref(), report),
            Self::Generate { check } => generate::run(workspace, *check, report),
            Self::Deny => deny::run(workspace, report),
            Self::Features => features::run(workspace, report),
            Self::Platforms => platforms::run(workspace, report),
            Self::Limits => limits::run(workspace, report),
        }
    }
}

/// Runs the stages one after the other, even if one of them fails, and prints the summary. Returns `false` if anything
/// failed.
pub(crate) fn run(stages: &[Stage], workspace: &Workspace) -> bool {
    let mut lines = Vec::new();
    for stage in stages {
        let started = Instant::now();
        let mut report = Report::new(stage.name());
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
