//! Budgets: the largest number of crates in the dependency tree of a crate, including itself.

use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::tree::{Features, Query, Tree};
use crate::workspace::{Package, Workspace};

/// The limit for one crate with one set of features.
#[derive(Debug)]
struct Budget {
    package: &'static str,
    /// `None` means the default features.
    features: Option<&'static [&'static str]>,
    limit: usize,
}

const BUDGETS: &[Budget] = &[
    Budget {
        package: "agcore-chat",
        features: None,
        limit: 20,
    },
    Budget {
        package: "agcore-prompt",
        features: None,
        limit: 25,
    },
    Budget {
        package: "agcore-profile",
        features: None,
        limit: 60,
    },
    Budget {
        package: "agcore-files",
        features: Some(&[]),
        limit: 40,
    },
    Budget {
        package: "agcore-files",
        features: Some(&["formats"]),
        limit: 130,
    },
    Budget {
        package: "agcore-tools",
        features: Some(&[]),
        limit: 51,
    },
    Budget {
        package: "agcore-tools",
        features: Some(&["schema"]),
        limit: 96,
    },
    Budget {
        package: "agcore-wire",
        features: None,
        limit: 37,
    },
    Budget {
        package: "agcore-cycle",
        features: Some(&[]),
        limit: 48,
    },
    Budget {
        package: "agcore-cycle",
        features: Some(&["typed"]),
        limit: 55,
    },
    Budget {
        package: "agcore-llm",
        features: Some(&["openai-chat"]),
        limit: 52,
    },
    Budget {
        package: "agcore-llm",
        features: Some(&["openai-chat", "http-reqwest"]),
        limit: 116,
    },
    Budget {
        package: "agcore-llm",
        features: Some(&["openai-chat", "http"]),
        limit: 103,
    },
    Budget {
        package: "agcore-agui",
        features: None,
        limit: 26,
    },
    Budget {
        package: "agcore-stream-json",
        features: None,
        limit: 20,
    },
    // The first build in a clone. Five of them are the sandbox.
    Budget {
        package: "agcore-cli",
        features: None,
        limit: 275,
    },
];

/// Counts the crates of each tree on the host.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
    for budget in BUDGETS {
        report.add(&check_one(workspace, budget));
    }
}

fn check_one(workspace: &Workspace, budget: &Budget) -> Check {
    let name = budget.to_string();
    if let Some(missing) = missing(workspace.member(budget.package), budget) {
        return Check::skipped(name, missing);
    }
    let query = Query {
        package: budget.package,
        features: match budget.features {
            None => Features::Default,
            Some(features) => Features::Only(features.to_vec()),
        },
        edges: "normal",
        target: None,
    };
    match Tree::ask(&workspace.cargo, &query) {
        Ok(tree) => {
            let count = tree.len();
            Check::new(format!("{name}: {count}"), over(budget, count).into_iter().collect())
        }
        Err(error) => Check::from_result(name, Err(error)),
    }
}

/// Returns the reason why the budget cannot be checked yet.
fn missing(package: Option<&Package>, budget: &Budget) -> Option<String> {
    let Some(package) = package else {
        return Some(format!("{} does not exist yet", budget.package));
    };
    let features = budget.features.unwrap_or_default();
    let absent = features
        .iter()
        .find(|feature| !package.features.contains_key(**feature));
    absent.map(|feature| format!("{} has no feature `{feature}` yet", budget.package))
}

fn over(budget: &Budget, count: usize) -> Option<Finding> {
    let Budget { package, limit, .. } = budget;
    (count > *limit).then(|| {
        Finding::new(
            format!("crates/{package}/Cargo.toml"),
            format!("{count} crates in its dependency tree, the limit is {limit}"),
            format!("see `cargo tree --package {package} --edges normal`; drop a dependency or a feature of one"),
        )
    })
}

impl std::fmt::Display for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "budget of {}", self.package)?;
        match self.features {
            None => {}
            Some([]) => write!(f, " without features")?,
            Some(features) => write!(f, " with {}", features.join(", "))?,
        }
        write!(f, " ≤ {}", self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_the_limit_itself() {
        assert_eq!(over(&BUDGETS[0], 20), None);
        let finding = over(&BUDGETS[0], 21).unwrap().to_string();
        assert!(
            finding.contains("21 crates in its dependency tree, the limit is 20"),
            "{finding}"
        );
    }

    #[test]
    fn names_what_does_not_exist() {
        let has_schema = |budget: &&Budget| budget.package == "agcore-tools" && budget.features == Some(&["schema"]);
        let budget = BUDGETS.iter().find(has_schema).unwrap();
        let reason = missing(None, budget).unwrap();
        assert_eq!(reason, "agcore-tools does not exist yet");
        let reason = missing(Some(&Package::default()), budget).unwrap();
        assert_eq!(reason, "agcore-tools has no feature `schema` yet");
    }
}
