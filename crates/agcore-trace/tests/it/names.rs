//! The table has the names of all spans of the workspace, and nothing twice.

use std::{collections::BTreeSet, fs, path::Path};

use agcore_trace::{attribute, metric, span};

/// Returns the source files below a folder.
fn sources(folder: &Path, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.extend(fs::read_to_string(&path));
        }
    }
}

/// Returns the fields of the spans in a source, such as `gen_ai.tool.name = …`: dotted names at the beginning of a line.
fn fields(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| {
        // Not a statement, which ends with a semicolon.
        let (name, _) = line.trim().strip_suffix(',')?.split_once(" = ")?;
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_' || c == '.';
        let starts = [
            "gen_ai.", "agcore.", "mcp.", "otel.", "error.", "http.", "network.", "enduser.",
        ];
        (starts.iter().any(|start| name.starts_with(start)) && name.chars().all(is_name)).then_some(name)
    })
}

#[test]
fn every_field_of_a_span_is_in_the_table() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    // A package from a registry has no other crates beside it.
    for entry in fs::read_dir(crates).unwrap().flatten() {
        sources(&entry.path().join("src"), &mut all);
    }
    let known: BTreeSet<_> = attribute::ALL.iter().map(|attribute| attribute.name).collect();
    let unknown: BTreeSet<_> = all
        .iter()
        .flat_map(|source| fields(source))
        .filter(|name| !known.contains(name))
        .collect();
    assert_eq!(unknown, BTreeSet::new());
}

#[test]
fn spans_are_found_in_sources() {
    let source = "tracing::info_span!(\n  \"chat\",\n  gen_ai.new_name = 1,\n  other = 2,\n);";
    assert_eq!(fields(source).collect::<Vec<_>>(), ["gen_ai.new_name"]);
}

#[test]
fn no_name_occurs_twice() {
    let names: BTreeSet<_> = attribute::ALL.iter().map(|attribute| attribute.name).collect();
    assert_eq!(names.len(), attribute::ALL.len());
    let metrics: BTreeSet<_> = metric::ALL.iter().map(|metric| metric.name).collect();
    assert_eq!(metrics.len(), metric::ALL.len());
    assert!(
        !span::CHUNK.starts_with("agcore"),
        "the logs would show each piece of a reply"
    );
}

#[test]
fn metrics_have_ascending_buckets_and_attributes_of_the_table() {
    let known: BTreeSet<_> = attribute::ALL.iter().map(|attribute| attribute.name).collect();
    for metric in metric::ALL {
        assert!(
            metric.boundaries.is_sorted_by(|one, other| one < other),
            "{}",
            metric.name
        );
        for name in metric.attributes {
            assert!(
                known.contains(name) && !name.ends_with(".id"),
                "{}: {name}",
                metric.name
            );
        }
    }
}
