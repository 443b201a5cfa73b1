//! The modules of one folder fit on a page: a reader who opens it sees where to look next.

use std::collections::BTreeMap;

use crate::report::finding::Finding;
use crate::source::sources::{SourceFile, Sources};

/// The most modules of a folder.
const MAX_MODULES: usize = 20;

/// The folders that had more when this rule was made, with the number of their modules. Lower a number with its folder, and
/// remove the entry when the folder has few enough; never raise one.
const LARGER: &[(&str, usize)] = &[];

const THIS_FILE: &str = "xtask/src/tidy/levels.rs";

/// Counts the modules of each folder of crates and of xtask.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    check(sources, LARGER)
}

fn check(sources: &Sources, larger: &[(&str, usize)]) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for folder in sources.iter().filter_map(folder_of_module) {
        *counts.entry(folder).or_default() += 1;
    }
    let findings = counts.iter().filter_map(|(folder, &count)| {
        let known = larger.iter().find(|(larger, _)| larger == folder);
        finding(folder, count, known.map(|(_, known)| *known))
    });
    findings.collect()
}

/// Returns the folder that contains a module, unless the file is the root of a crate or a program.
fn folder_of_module(file: &SourceFile) -> Option<&str> {
    let is_checked = file.is_crate_source() || file.path.starts_with("xtask/src/");
    let (folder, name) = file.path.rsplit_once('/')?;
    let is_root = matches!(name, "lib.rs" | "main.rs") || folder.ends_with("/src/bin");
    (is_checked && name.ends_with(".rs") && !is_root).then_some(folder)
}

fn finding(folder: &str, count: usize, known: Option<usize>) -> Option<Finding> {
    let limit = known.unwrap_or(MAX_MODULES);
    if count > limit {
        let problem = format!("{count} modules in one folder, {limit} are allowed");
        let remedy = "put those that belong together into a module of their own, named after what they do";
        return Some(Finding::new(folder, problem, remedy));
    }
    let problem = format!("the exception for {folder} allows {limit} modules, but it has {count}");
    match known {
        Some(_) if count <= MAX_MODULES => Some(Finding::new(THIS_FILE, problem, "remove it from the list")),
        Some(known) if count < known => Some(Finding::new(THIS_FILE, problem, format!("lower it to {count}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_count(count: usize, larger: &[(&str, usize)], expected: Option<&str>) {
        let paths: Vec<String> = (0..count).map(|at| format!("crates/a/src/part/m{at}.rs")).collect();
        let others = [
            "crates/a/src/lib.rs",
            "crates/a/src/part.rs",
            "crates/a/src/part/m0/deep.rs",
        ];
        let files = paths.iter().map(String::as_str).chain(others);
        let files: Vec<_> = files.map(|path| (path, "//! A module.")).collect();
        let found = check(&files.into_iter().collect(), larger);
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found.len() == 1 && found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    #[test]
    fn a_folder_has_few_modules() {
        check_count(MAX_MODULES, &[], None);
        check_count(
            MAX_MODULES + 1,
            &[],
            Some("crates/a/src/part: 21 modules in one folder, 20 are allowed"),
        );
    }

    #[test]
    fn an_exception_can_only_shrink() {
        let larger = |count| [("crates/a/src/part", count)];
        check_count(25, &larger(25), None);
        check_count(26, &larger(25), Some("26 modules in one folder, 25 are allowed"));
        check_count(24, &larger(25), Some("lower it to 24"));
        check_count(20, &larger(25), Some("remove it from the list"));
    }

    #[test]
    fn tests_and_examples_are_not_counted() {
        let paths: Vec<String> = (0..30).map(|at| format!("crates/a/tests/it/m{at}.rs")).collect();
        let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "//! A test.")).collect();
        assert_eq!(check(&files.into_iter().collect(), &[]), []);
    }
}
