//! Absences: dependencies that a crate promises not to have.

use crate::check::Check;
use crate::feature_set;
use crate::finding::Finding;
use crate::report::Report;
use crate::tree::{Features, Query, Tree};
use crate::workspace::{Package, Workspace};

const WASM: &str = "wasm32-unknown-unknown";

/// The most crates that the name of a check contains.
const SHOWN: usize = 4;

/// The promise of one crate.
#[derive(Debug)]
struct Absence {
    package: &'static str,
    /// The promise holds with all features, or with all features that do not enable this one.
    unless: Option<&'static str>,
    target: Option<&'static str>,
    banned: &'static [&'static str],
}

/// Pure crates run on targets without an operating system.
const SYSTEM: &[&str] = &["getrandom", "mio", "socket2", "tokio"];

/// The HTTP transport and its parts.
const HTTP: &[&str] = &[
    "h2",
    "hyper",
    "hyper-util",
    "reqwest",
    "ring",
    "rustls",
    "rustls-webpki",
    "tokio-rustls",
    "webpki-roots",
];

const ABSENCES: &[Absence] = &[
    pure("agcore-chat", Some("tokio"), None),
    pure("agcore-chat", Some("tokio"), Some(WASM)),
    pure("agcore-wire", None, None),
    pure("agcore-wire", None, Some(WASM)),
    pure("agcore-prompt", None, None),
    pure("agcore-prompt", None, Some(WASM)),
    pure("agcore-profile", None, None),
    pure("agcore-profile", None, Some(WASM)),
    pure("agcore-document", None, None),
    pure("agcore-document", None, Some(WASM)),
    pure("agcore-agui", None, None),
    pure("agcore-agui", None, Some(WASM)),
    // Programs that read the lines need neither agents nor a runtime.
    pure("agcore-stream-json", Some("stream"), None),
    Absence {
        package: "agcore-telemetry",
        unless: Some("otel"),
        target: None,
        banned: &[
            "hyper",
            "opentelemetry",
            "opentelemetry-otlp",
            "opentelemetry_sdk",
            "tokio",
        ],
    },
    Absence {
        package: "agcore-llm",
        unless: Some("_http"),
        target: None,
        banned: HTTP,
    },
    Absence {
        package: "agcore-llm",
        unless: Some("http-reqwest"),
        target: None,
        banned: &["hyper-rustls", "reqwest", "tower", "tower-http"],
    },
    // Agents need only the contracts of agcore-memory.
    Absence {
        package: "agcore-agent",
        unless: Some("knowledge"),
        target: None,
        banned: &["rust-stemmers", "unicode-normalization"],
    },
];

const fn pure(package: &'static str, unless: Option<&'static str>, target: Option<&'static str>) -> Absence {
    Absence {
        package,
        unless,
        target,
        banned: SYSTEM,
    }
}

/// Searches each tree for the banned crates.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
    for absence in ABSENCES {
        report.add(&check_one(workspace, absence));
    }
}

fn check_one(workspace: &Workspace, absence: &Absence) -> Check {
    let name = absence.to_string();
    let Some(package) = workspace.member(absence.package) else {
        return Check::skipped(name, format!("{} does not exist yet", absence.package));
    };
    let query = Query {
        package: absence.package,
        features: features(package, absence),
        edges: "normal",
        target: absence.target,
    };
    let tree = Tree::ask(&workspace.cargo, &query);
    Check::from_result(name, tree.map(|tree| findings(package, absence, &tree)))
}

fn features<'a>(package: &'a Package, absence: &Absence) -> Features<'a> {
    match absence.unless {
        None => Features::All,
        Some(feature) => Features::Only(feature_set::all_without(package, feature)),
    }
}

fn findings(package: &Package, absence: &Absence, tree: &Tree) -> Vec<Finding> {
    let present = absence.banned.iter().filter(|name| tree.contains(name));
    present
        .map(|name| {
            let target = absence.target.map(|target| format!(" --target {target}"));
            let target = target.unwrap_or_default();
            Finding::new(
                &package.manifest,
                format!("{name} is in its dependency tree, although the crate promises not to depend on it"),
                format!(
                    "`cargo tree --package {} --all-features{target} --invert {name}` shows which dependency uses it; \
                     put that behind a feature, or let the caller pass it in",
                    package.name
                ),
            )
        })
        .collect()
}

impl std::fmt::Display for Absence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.package)?;
        if let Some(feature) = self.unless {
            write!(f, " without `{feature}`")?;
        }
        let (shown, others) = self.banned.split_at(self.banned.len().min(SHOWN));
        write!(f, " does not depend on {}", shown.join(", "))?;
        if !others.is_empty() {
            write!(f, " and {} others", others.len())?;
        }
        match self.target {
            Some(target) => write!(f, " for {target}"),
            None => Ok(()),
        }
    }
}
