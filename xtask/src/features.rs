//! `features`: every library builds, without a warning, with no feature, the
//! default ones, each alone, and all; and a choice of one wire brings no other.

mod symbols;

use std::collections::BTreeSet;
use std::process::Output;

use crate::check::Check;
use crate::feature_set;
use crate::finding::Finding;
use crate::process;
use crate::report::Report;
use crate::workspace::{Package, Workspace};

/// Checks every choice that resolves differently from those before it.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    let mut alike = 0;
    for member in workspace.members.iter().filter(|member| member.has_library()) {
        let choices = choices(member);
        let different = different(member, &choices);
        alike += choices.len() - different.len();
        for choice in different {
            report.add(&check(workspace, member, choice));
        }
    }
    for check in symbols::check(workspace) {
        report.add(&check);
    }
    println!("{alike} feature sets resolve like one before them and were not built again");
}

/// Features to build a package with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    name: String,
    features: Vec<String>,
}

/// None, default, each, all.
fn choices(package: &Package) -> Vec<Choice> {
    let names: Vec<String> = feature_set::names(package).map(str::to_owned).collect();
    let choice = |name: &str, features: &[String]| Choice {
        name: name.to_owned(),
        features: features.to_vec(),
    };
    let mut choices = vec![choice("no features", &[])];
    choices.push(choice("default features", &[feature_set::DEFAULT.to_owned()]));
    let each = names
        .iter()
        .map(|name| choice(&format!("`{name}`"), std::slice::from_ref(name)));
    choices.extend(each);
    choices.push(choice("all features", &names));
    choices
}

/// The first choice of each set that resolves alike.
fn different<'a>(package: &Package, choices: &'a [Choice]) -> Vec<&'a Choice> {
    let mut seen = BTreeSet::new();
    let resolves_new = |choice: &&Choice| seen.insert(feature_set::enabled(package, &choice.features));
    choices.iter().filter(resolves_new).collect()
}

fn check(workspace: &Workspace, member: &Package, choice: &Choice) -> Check {
    // A package that declares no default features does not know the word.
    let known = |name: &&String| member.features.contains_key(*name);
    let features: Vec<_> = choice.features.iter().filter(known).cloned().collect();
    let features = features.join(",");
    let arguments = ["check", "--lib", "--package", &member.name, "--no-default-features"];
    let mut command = workspace.cargo.command(arguments);
    if !features.is_empty() {
        command.args(["--features", &features]);
    }
    let found = process::capture(&mut command).map(|output| findings(member, &features, &output));
    Check::from_result(format!("{} with {}", member.name, choice.name), found)
}

fn findings(member: &Package, features: &str, output: &Output) -> Vec<Finding> {
    let told = String::from_utf8_lossy(&output.stderr);
    let problem = if !output.status.success() {
        "it does not build"
    } else if has_warning(&told) {
        "it builds with warnings"
    } else {
        return Vec::new();
    };
    vec![Finding::new(
        &member.manifest,
        format!("{problem}:\n{}", told.trim_end()),
        format!(
            "see `cargo check --lib --package {} --no-default-features --features \"{features}\"`; \
             put what needs a feature behind it",
            member.name
        ),
    )]
}

/// Whether cargo counted warnings: `` warning: `x` (lib) generated 1 warning ``.
fn has_warning(told: &str) -> bool {
    told.lines()
        .any(|line| line.starts_with("warning: `") && line.contains("generated"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(features: &[(&str, &[&str])]) -> Package {
        let owned = |(name, implied): &(&str, &[&str])| {
            let implied = implied.iter().map(|&name| name.to_owned()).collect();
            ((*name).to_owned(), implied)
        };
        Package {
            features: features.iter().map(owned).collect(),
            ..Package::default()
        }
    }

    #[track_caller]
    fn check(features: &[(&str, &[&str])], expected: &[&str]) {
        let package = package(features);
        let choices = choices(&package);
        let names: Vec<_> = different(&package, &choices)
            .into_iter()
            .map(|choice| &choice.name)
            .collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_package_without_features_is_built_once() {
        check(&[], &["no features"]);
        check(&[("default", &[])], &["no features"]);
    }

    #[test]
    fn what_resolves_alike_is_built_once() {
        check(&[("default", &["a"]), ("a", &[])], &["no features", "default features"]);
        check(
            &[("default", &["a"]), ("a", &[]), ("b", &["dep:b"])],
            &["no features", "default features", "`b`", "all features"],
        );
    }

    #[test]
    fn warnings_are_seen_in_what_cargo_tells() {
        assert!(has_warning(
            "warning: unused import\nwarning: `x` (lib) generated 1 warning\n"
        ));
        assert!(!has_warning("    Finished `dev` profile\n"));
        assert!(!has_warning(
            "warning: virtual workspace defaulting to `resolver = \"1\"`"
        ));
    }
}
