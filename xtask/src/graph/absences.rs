//! Absences: dependencies that a crate promises not to have.

use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::tree::{Features, Query, Tree};
use crate::workspace::feature_set;
use crate::workspace::{Package, Workspace};

const WASM: &str = "wasm32-unknown-unknown";

/// The most crates that the name of a check contains.
const SHOWN: usize = 4;

/// The promise of one crate.
#[derive(Debug)]
struct Absence {
    package: &'static str,
    features: Selected,
    target: Option<&'static str>,
    banned: &'static [&'static str],
}

/// The features with which a promise holds.
#[derive(Debug)]
enum Selected {
    All,
    /// All features that do not enable this one.
    AllWithout(&'static str),
    Default,
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

/// The heavy parts of the program that its first build leaves out: documents, the keyring, the server, MCP, telemetry and JSON Schema.
const NOT_AT_FIRST: &[&str] = &[
    "agcore-eval",
    "agcore-flow",
    "axum",
    "calamine",
    "jsonschema",
    "lopdf",
    "opentelemetry",
    "quick-xml",
    "reqwest",
    "rmcp",
    "zbus",
    "zip",
];

const ABSENCES: &[Absence] = &[
    // `cargo run --bin agcore` in a clone builds both together, without the examples themselves.
    Absence {
        package: "agcore-cli",
        features: Selected::Default,
        target: None,
        banned: NOT_AT_FIRST,
    },
    Absence {
        package: "agcore-examples",
        features: Selected::Default,
        target: None,
        banned: NOT_AT_FIRST,
    },
    pure("agcore-chat", Selected::AllWithout("tokio"), None),
    pure("agcore-chat", Selected::AllWithout("tokio"), Some(WASM)),
    pure("agcore-wire", Selected::All, None),
    pure("agcore-wire", Selected::All, Some(WASM)),
    pure("agcore-prompt", Selected::All, None),
    pure("agcore-prompt", Selected::All, Some(WASM)),
    pure("agcore-profile", Selected::All, None),
    pure("agcore-profile", Selected::All, Some(WASM)),
    pure("agcore-aws", Selected::All, None),
    pure("agcore-aws", Selected::All, Some(WASM)),
    pure("agcore-document", Selected::All, None),
    pure("agcore-document", Selected::All, Some(WASM)),
    pure("agcore-schedule", Selected::All, None),
    pure("agcore-schedule", Selected::All, Some(WASM)),
    pure("agcore-webhook", Selected::All, None),
    pure("agcore-webhook", Selected::All, Some(WASM)),
    pure("agcore-agui", Selected::All, None),
    pure("agcore-agui", Selected::All, Some(WASM)),
    pure("agcore-console", Selected::All, None),
    pure("agcore-console", Selected::All, Some(WASM)),
    pure("agcore-openai", Selected::All, None),
    pure("agcore-openai", Selected::All, Some(WASM)),
    pure("agcore-ui-stream", Selected::All, None),
    pure("agcore-ui-stream", Selected::All, Some(WASM)),
    // Programs that read the lines need neither agents nor a runtime.
    pure("agcore-stream-json", Selected::AllWithout("stream"), None),
    Absence {
        package: "agcore-telemetry",
        features: Selected::AllWithout("otel"),
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
        features: Selected::AllWithout("_http"),
        target: None,
        banned: HTTP,
    },
    Absence {
        package: "agcore-llm",
        features: Selected::AllWithout("http-reqwest"),
        target: None,
        banned: &["hyper-rustls", "reqwest", "tower", "tower-http"],
    },
    // Agents need only the contracts of agcore-memory.
    Absence {
        package: "agcore-agent",
        features: Selected::AllWithout("knowledge"),
        target: None,
        banned: &["rust-stemmers", "unicode-normalization"],
    },
];

const fn pure(package: &'static str, features: Selected, target: Option<&'static str>) -> Absence {
    Absence {
        package,
        features,
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
    match absence.features {
        Selected::All => Features::All,
        Selected::AllWithout(feature) => Features::Only(feature_set::all_without(package, feature)),
        Selected::Default => Features::Default,
    }
}

fn findings(package: &Package, absence: &Absence, tree: &Tree) -> Vec<Finding> {
    let features = match absence.features {
        Selected::All | Selected::AllWithout(_) => " --all-features",
        Selected::Default => "",
    };
    let present = absence.banned.iter().filter(|name| tree.contains(name));
    present
        .map(|name| {
            let target = absence.target.map(|target| format!(" --target {target}"));
            let target = target.unwrap_or_default();
            Finding::new(
                &package.manifest,
                format!("{name} is in its dependency tree, although the crate promises not to depend on it"),
                format!(
                    "`cargo tree --package {}{features}{target} --invert {name}` shows which dependency uses it; \
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
        match self.features {
            Selected::All => {}
            Selected::AllWithout(feature) => write!(f, " without `{feature}`")?,
            Selected::Default => f.write_str(" with its default features")?,
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
