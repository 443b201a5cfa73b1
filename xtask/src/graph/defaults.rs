//! Defaults: only the facade turns on the default features of another crate of this workspace, so that a user of one
//! layer builds only that layer.

use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::workspace::feature_set::DEFAULT;
use crate::workspace::{Package, Workspace};

const FACADE: &str = "agcore";

/// Checks dependencies and features of every member.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
    let others = workspace.members.iter().filter(|member| member.name != FACADE);
    let findings = others.flat_map(|member| {
        let is_member = |name: &str| workspace.member(name).is_some();
        by_dependency(member, &is_member)
            .chain(by_feature(member, &is_member))
            .map(|problem| finding(member, problem))
            .collect::<Vec<_>>()
    });
    report.add(&Check::new("defaults", findings.collect()));
}

fn by_dependency(member: &Package, is_member: &impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    member
        .dependencies
        .iter()
        .filter(|dependency| is_member(&dependency.name))
        .filter(|dependency| dependency.default_features || dependency.features.iter().any(|name| name == DEFAULT))
        .map(|dependency| format!("enables the default features of {}", dependency.name))
}

/// A feature can also turn on `other/default`.
fn by_feature(member: &Package, is_member: &impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    member.features.iter().flat_map(move |(feature, implied)| {
        let defaults = implied.iter().filter(move |entry| {
            entry
                .split_once('/')
                .is_some_and(|(used, chosen)| chosen == DEFAULT && is_member(used.trim_end_matches('?')))
        });
        defaults.map(move |entry| format!("the feature `{feature}` enables `{entry}`"))
    })
}

fn finding(member: &Package, problem: String) -> Finding {
    Finding::new(
        &member.manifest,
        format!("{}: {problem}", member.name),
        "write `default-features = false` and list the features that are needed",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_feature_that_enables_defaults() {
        let implied = ["agcore-llm?/default", "serde/default", "agcore-llm/http"];
        let member = Package {
            features: [("full".to_owned(), implied.map(str::to_owned).to_vec())].into(),
            ..Package::default()
        };
        let found: Vec<_> = by_feature(&member, &|name| name == "agcore-llm").collect();
        assert_eq!(found, ["the feature `full` enables `agcore-llm?/default`"]);
    }
}
