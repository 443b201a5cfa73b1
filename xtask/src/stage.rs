//! A stage: one command whose checks are counted, on its own or as a part of `ci`.

use std::time::Instant;

use crate::features::Selections;
use crate::lints::Pages;
use crate::report::Report;
use crate::report::summary::{self, Line};
use crate::workspace::Workspace;
use crate::{
    deny, features, generate, graph, lints,
    measure::{limits, soak},
    platforms,
    test::{self, upgrade},
    tidy,
};

/// A group of checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    Fmt,
    Clippy,
    Docs(Pages),
    Test,
    /// The tests of the packages that changed since a commit, and of those that depend on them.
    ChangedTests {
        /// The commit; a default if `None`.
        since: Option<String>,
    },
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
    Features(Selections),
    Platforms,
    Limits,
    Upgrade,
    Soak,
}

impl Stage {
    /// Returns the stages of `ci` in order. Stages that build with the same features follow each other; those that build
    /// with other features come last.
    pub(crate) fn ci() -> Vec<Self> {
        let mut stages = Self::texts();
        stages.extend([
            Self::Clippy,
            Self::Docs(Pages::Public),
            Self::Test,
            Self::Features(Selections::Usual),
            Self::Deny,
        ]);
        stages
    }

    /// Returns the stages that `ci` leaves out because they take long and rarely find anything.
    pub(crate) fn nightly() -> Vec<Self> {
        vec![
            Self::Docs(Pages::Private),
            Self::Features(Selections::Each),
            Self::Platforms,
            Self::Limits,
            Self::Upgrade,
            Self::Soak,
        ]
    }

    /// Returns the stages of `quick`: what finds most mistakes in a change within minutes.
    pub(crate) fn quick(since: Option<String>) -> Vec<Self> {
        let mut stages = Self::texts();
        stages.extend([Self::Clippy, Self::ChangedTests { since }]);
        stages
    }

    /// Returns the stages that only read the sources.
    fn texts() -> Vec<Self> {
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
        ]
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Docs(_) => "docs",
            Self::Test | Self::ChangedTests { .. } => "test",
            Self::Graph { .. } => "graph",
            Self::Tidy { .. } => "tidy",
            Self::Generate { .. } => "gen",
            Self::Deny => "deny",
            Self::Features(_) => "features",
            Self::Platforms => "platforms",
            Self::Limits => "limits",
            Self::Upgrade => "upgrade",
            Self::Soak => "soak",
        }
    }

    fn run(&self, workspace: &Workspace, report: &mut Report) {
        match self {
            Self::Fmt => lints::fmt(workspace, report),
            Self::Clippy => lints::clippy(workspace, report),
            Self::Docs(pages) => lints::docs(workspace, *pages, report),
            Self::Test => test::run(workspace, report),
            Self::ChangedTests { since } => test::run_changed(workspace, since.as_deref(), report),
            Self::Graph { check, only } => graph::run(workspace, *check, only, report),
            Self::Tidy { only, range } => tidy::run(workspace, only, range.as_deref(), report),
            Self::Generate { check } => generate::run(workspace, *check, report),
            Self::Deny => deny::run(workspace, report),
            Self::Features(selections) => features::run(workspace, *selections, report),
            Self::Platforms => platforms::run(workspace, report),
            Self::Limits => limits::run(workspace, report),
            Self::Upgrade => upgrade::stage(workspace, report),
            Self::Soak => soak::stage(workspace, report),
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
