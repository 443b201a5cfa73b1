//! `features`: every library, and every program with features, builds without warnings with no features, with the default
//! features and, unless only the usual selections are checked, with each feature alone; a build with one API contains no
//! code of another. `ci` checks the facade, the program and the server only.
//!
//! All features at once are not built here, because clippy, docs and tests build them.

mod symbols;

use std::collections::BTreeSet;

use crate::process::{self, Logged};
use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::workspace::feature_set;
use crate::workspace::{Package, Workspace};

/// Number of lines of a log that a failed build shows.
const TAIL: usize = 40;

/// The packages that most people build: the facade, the program, and the server as a library.
const MAIN: &[&str] = &["agcore", "agcore-cli", "agcore-server"];

/// The selections of features that are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selections {
    /// No features, and the default features, of the packages that most people build.
    Usual,
    /// These and each feature alone, of all packages.
    Each,
}

/// Checks every selection of features that resolves differently from the ones before it.
pub(crate) fn run(workspace: &Workspace, which: Selections, report: &mut Report) {
    let is_selected = |member: &&Package| which != Selections::Usual || MAIN.contains(&&*member.name);
    for member in workspace
        .members
        .iter()
        .filter(|member| has_selections(member))
        .filter(is_selected)
    {
        for selection in distinct(member, selections(member, which)) {
            report.add(&check(workspace, member, &selection));
        }
    }
    symbols::check(workspace, report);
}

/// Returns whether a package is a library, or a program with features.
fn has_selections(member: &Package) -> bool {
    member.has_library() || !member.features.is_empty()
}

/// Features to build a package with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Selection {
    name: String,
    features: Vec<String>,
}

/// Returns no features, the default features, and each public feature alone if that is wanted.
fn selections(package: &Package, which: Selections) -> Vec<Selection> {
    let selection = |name: &str, features: &[&str]| Selection {
        name: name.to_owned(),
        features: features.iter().map(|&feature| feature.to_owned()).collect(),
    };
    let mut selections = vec![
        selection("no features", &[]),
        selection("default features", &[feature_set::DEFAULT]),
    ];
    if which == Selections::Each {
        let public = feature_set::names(package).filter(|name| !name.starts_with('_'));
        selections.extend(public.map(|name| selection(&format!("`{name}`"), &[name])));
    }
    selections
}

/// Keeps the first selection of each set of enabled features.
fn distinct(package: &Package, selections: Vec<Selection>) -> Vec<Selection> {
    let mut seen = BTreeSet::new();
    let mut kept = selections;
    kept.retain(|selection| seen.insert(feature_set::enabled(package, &selection.features)));
    kept
}

fn check(workspace: &Workspace, member: &Package, selection: &Selection) -> Check {
    // Cargo does not know `default` in a package that declares no default features.
    let known = |name: &&String| member.features.contains_key(*name);
    let features: Vec<_> = selection.features.iter().filter(known).cloned().collect();
    let features = features.join(",");
    let arguments = [
        "check",
        target(member),
        "--package",
        &member.name,
        "--no-default-features",
    ];
    let mut command = workspace.cargo.command(arguments);
    if !features.is_empty() {
        command.args(["--features", &features]);
    }
    let log = workspace.log(&format!("features-{}-{features}", member.name));
    let findings = process::logged(&mut command, &log).map(|logged| findings(workspace, member, &features, &logged));
    Check::from_result(format!("{} with {}", member.name, selection.name), findings)
}

/// Returns the option that selects what others build: the library, or the program if there is none.
fn target(member: &Package) -> &'static str {
    if member.has_library() { "--lib" } else { "--bins" }
}

fn findings(workspace: &Workspace, member: &Package, features: &str, logged: &Logged) -> Vec<Finding> {
    let problem = if !logged.succeeded {
        "does not build"
    } else if has_warning(&logged.text) {
        "builds with warnings"
    } else {
        return Vec::new();
    };
    vec![Finding::new(
        &member.manifest,
        format!("{problem}: {}", logged.excerpt(&workspace.root, TAIL)),
        format!(
            "see `cargo check {} --package {} --no-default-features --features \"{features}\"`; \
             put code that needs a feature behind that feature",
            target(member),
            member.name
        ),
    )]
}

/// Returns whether cargo counted warnings: `` warning: `x` (lib) generated 1 warning ``.
fn has_warning(output: &str) -> bool {
    output
        .lines()
        .any(|line| line.starts_with("warning: `") && line.contains("generated"))
}

#[cfg(test)]
mod tests {
    use cargo_metadata::TargetKind;

    use super::*;
    use crate::workspace::Target;

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
        check_selections(Selections::Each, features, expected);
    }

    #[track_caller]
    fn check_selections(which: Selections, features: &[(&str, &[&str])], expected: &[&str]) {
        let package = package(features);
        let selections = distinct(&package, selections(&package, which));
        let names: Vec<_> = selections.iter().map(|selection| &selection.name).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn libraries_and_programs_with_features_are_checked() {
        let with = |kind: TargetKind, features: &[(&str, &[&str])]| Package {
            targets: vec![Target {
                name: "x".to_owned(),
                kind,
                source: "x.rs".into(),
            }],
            ..package(features)
        };
        let library = with(TargetKind::Lib, &[]);
        let program = with(TargetKind::Bin, &[("a", &[])]);
        assert!(has_selections(&library) && has_selections(&program));
        assert!(!has_selections(&with(TargetKind::Bin, &[])));
        assert_eq!((target(&library), target(&program)), ("--lib", "--bins"));
    }

    #[test]
    fn builds_a_package_without_features_once() {
        check(&[], &["no features"]);
        check(&[("default", &[])], &["no features"]);
    }

    #[test]
    fn builds_each_set_of_enabled_features_once() {
        check(&[("default", &["a"]), ("a", &[])], &["no features", "default features"]);
        check(
            &[("default", &["a"]), ("a", &["_a"]), ("b", &["dep:b"]), ("_a", &[])],
            &["no features", "default features", "`b`"],
        );
    }

    #[test]
    fn the_usual_selections_leave_out_single_features() {
        let features: &[(&str, &[&str])] = &[("default", &["a"]), ("a", &[]), ("b", &["dep:b"])];
        check_selections(Selections::Usual, features, &["no features", "default features"]);
    }

    #[test]
    fn finds_warnings_in_the_output_of_cargo() {
        assert!(has_warning(
            "warning: unused import\nwarning: `x` (lib) generated 1 warning\n"
        ));
        assert!(!has_warning("    Finished `dev` profile\n"));
        assert!(!has_warning(
            "warning: virtual workspace defaulting to `resolver = \"1\"`"
        ));
    }
}
