//! Absences: what a crate promises not to bring along.

use crate::check::Check;
use crate::feature_set;
use crate::finding::Finding;
use crate::tree::{Features, Query, Tree};
use crate::workspace::{Package, Workspace};

const WASM: &str = "wasm32-unknown-unknown";

/// A promise of one crate.
#[derive(Debug)]
struct Absence {
    package: &'static str,
    /// The features that the promise holds with: all, or all that do not turn
    /// on this one.
    unless: Option<&'static str>,
    target: Option<&'static str>,
    banned: &'static [&'static str],
}

/// The pure crates run where there is no system below them.
const SYSTEM: &[&str] = &["getrandom", "mio", "socket2", "tokio"];

/// Without a transport there is none of its parts.
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
    pure_on("agcore-chat", None),
    pure_on("agcore-chat", Some(WASM)),
    pure_on("agcore-prompt", None),
    pure_on("agcore-prompt", Some(WASM)),
    pure_on("agcore-profile", None),
    pure_on("agcore-profile", Some(WASM)),
    Absence {
        package: "agcore-llm",
        unless: Some("http"),
        target: None,
        banned: HTTP,
    },
];

const fn pure_on(package: &'static str, target: Option<&'static str>) -> Absence {
    Absence {
        package,
        unless: None,
        target,
        banned: SYSTEM,
    }
}

/// Looks for the banned crates in each tree.
pub(crate) fn check(workspace: &Workspace) -> Vec<Check> {
    ABSENCES.iter().map(|absence| check_one(workspace, absence)).collect()
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
                format!("{name} is in its tree, though it promises not to bring it"),
                format!(
                    "`cargo tree --package {} --all-features{target} --invert {name}` shows who brings it; \
                     put that behind a feature or let it be handed in",
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
        write!(f, " brings no {}", self.banned.join(", "))?;
        match self.target {
            Some(target) => write!(f, " for {target}"),
            None => Ok(()),
        }
    }
}
