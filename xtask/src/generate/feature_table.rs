//! Tables of features, generated from the comments in `[features]` of each manifest.
//!
//! A comment above a feature is its description. The table is written between two markers in the README of the crate,
//! and in the docs of its library. Features whose names start with `_` are private and left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use crate::generate::output::{Generated, Output};
use crate::report::finding::Finding;
use crate::source::sources::{SourceFile, Sources};
use crate::workspace::Package;
use crate::workspace::feature_set::{self, DEFAULT};

const OPENING: &str = "<!-- features -->";
const CLOSING: &str = "<!-- /features -->";

/// A feature with its description.
#[derive(Debug, PartialEq, Eq)]
struct Feature {
    name: String,
    description: String,
    is_default: bool,
}

/// Renders the tables of all crates that have features.
pub(super) fn render(sources: &Sources) -> Output {
    let mut output = Output::default();
    for (_, folder) in sources.crates() {
        let Some(manifest) = sources.get(&format!("{folder}/Cargo.toml")) else {
            continue;
        };
        let features = match features(&manifest.text) {
            Ok(features) if features.is_empty() => continue,
            Ok(features) => features,
            // The check `manifests` reports it.
            Err(_) => continue,
        };
        output.findings.extend(undescribed(manifest, &features));
        let table = table(&features);
        for (path, prefix) in [("README.md", ""), ("src/lib.rs", "//! ")] {
            let Some(file) = sources.get(&format!("{folder}/{path}")) else {
                continue;
            };
            match replaced(&file.text, prefix, &table) {
                Some(text) => output.files.push(Generated {
                    path: file.path.clone(),
                    text,
                }),
                None => output.findings.push(Finding::new(
                    &file.path,
                    "there is no place for the table of features",
                    format!("add the lines `{prefix}{OPENING}` and `{prefix}{CLOSING}`, then run `cargo xtask gen`"),
                )),
            }
        }
    }
    output
}

fn undescribed(manifest: &SourceFile, features: &[Feature]) -> impl Iterator<Item = Finding> {
    let undescribed = features.iter().filter(|feature| feature.description.is_empty());
    undescribed.map(|feature| {
        Finding::new(
            &manifest.path,
            format!("the feature `{}` has no description", feature.name),
            "describe it in a comment above the feature",
        )
    })
}

/// Returns the public features in the order of the manifest.
fn features(manifest: &str) -> anyhow::Result<Vec<Feature>> {
    let table: Table = manifest.parse()?;
    let Some(declared) = table.get("features").and_then(Value::as_table) else {
        return Ok(Vec::new());
    };
    let by_default = enabled_by_default(declared);
    let mut descriptions = descriptions(manifest);
    descriptions.retain(|(name, _)| name != DEFAULT && !name.starts_with('_') && declared.contains_key(name));
    let features = descriptions.into_iter().map(|(name, description)| Feature {
        is_default: by_default.contains(&name),
        description,
        name,
    });
    Ok(features.collect())
}

fn enabled_by_default(declared: &Table) -> std::collections::BTreeSet<String> {
    let entries = |value: &Value| {
        let entries = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        entries.map(str::to_owned).collect()
    };
    let features: BTreeMap<String, Vec<String>> = declared
        .iter()
        .map(|(name, value)| (name.clone(), entries(value)))
        .collect();
    let package = Package {
        features,
        ..Package::default()
    };
    feature_set::enabled(&package, [DEFAULT])
}

/// Returns the name of each key in `[features]`, with the comment lines directly above it.
fn descriptions(manifest: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    // Number of brackets that are open in the value of a key.
    let mut depth = 0_usize;
    let lines = manifest.lines().map(str::trim);
    let section = lines.skip_while(|line| *line != "[features]").skip(1);
    for line in section.take_while(|line| !line.starts_with('[')) {
        if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
            continue;
        }
        if depth == 0
            && let Some((name, _)) = line.split_once('=')
        {
            found.push((name.trim().trim_matches('"').to_owned(), comment.join(" ")));
        }
        let opened = line.matches('[').count();
        depth = (depth + opened).saturating_sub(line.matches(']').count());
        comment.clear();
    }
    found
}

fn table(features: &[Feature]) -> String {
    let mut table = "| feature | description |\n|---|---|\n".to_owned();
    for feature in features {
        let default = if feature.is_default { " (default)" } else { "" };
        let description = feature.description.replace('|', "\\|");
        // Writing to a String cannot fail.
        let _ = writeln!(table, "| `{}`{default} | {description} |", feature.name);
    }
    table
}

/// Returns the text with the table between the markers, or `None` without markers. Each line starts with `prefix`.
fn replaced(text: &str, prefix: &str, table: &str) -> Option<String> {
    let (opening, closing) = (format!("{prefix}{OPENING}\n"), format!("{prefix}{CLOSING}\n"));
    let start = text.find(&opening)? + opening.len();
    let end = start + text[start..].find(&closing)?;
    let empty = prefix.trim_end();
    // Markdown needs a blank line between HTML and a table.
    let mut lines = format!("{empty}\n");
    for line in table.lines() {
        let _ = writeln!(lines, "{prefix}{line}");
    }
    let _ = writeln!(lines, "{empty}");
    Some([&text[..start], &lines, &text[end..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
[package]
name = "a"

[features]
default = ["wire"]
# The wire | its
# dialects.
wire = ["_events"]
# HTTP.
http = [
    "dep:reqwest",
    "dep:rustls",
]

plain = []
_events = []

[dependencies]
"#;

    const TABLE: &str = "\
| feature | description |
|---|---|
| `wire` (default) | The wire \\| its dialects. |
| `http` | HTTP. |
| `plain` |  |
";

    #[test]
    fn describes_public_features_by_their_comments() {
        let features = features(MANIFEST).unwrap();
        assert_eq!(table(&features), TABLE);
    }

    #[test]
    fn replaces_the_text_between_the_markers() {
        let readme = "# a\n\n<!-- features -->\nold\n<!-- /features -->\nEnd.\n";
        let expected = format!("# a\n\n<!-- features -->\n\n{TABLE}\n<!-- /features -->\nEnd.\n");
        assert_eq!(replaced(readme, "", TABLE), Some(expected.clone()));
        assert_eq!(replaced(&expected, "", TABLE), Some(expected));
        let lib = "//! A.\n//! <!-- features -->\n//! <!-- /features -->\n";
        let expected = "//! A.\n//! <!-- features -->\n//!\n//! | x |\n//!\n//! <!-- /features -->\n";
        assert_eq!(replaced(lib, "//! ", "| x |\n").as_deref(), Some(expected));
        assert_eq!(replaced("# a\n", "", TABLE), None);
    }

    #[test]
    fn finds_a_feature_without_description_and_a_page_without_markers() {
        let sources = Sources::from([
            ("crates/a/Cargo.toml", MANIFEST),
            ("crates/a/README.md", "# a\n"),
            ("crates/a/src/lib.rs", "//! <!-- features -->\n//! <!-- /features -->\n"),
        ]);
        let Output { files, findings } = render(&sources);
        assert_eq!(files.len(), 1);
        let findings: Vec<_> = findings.iter().map(Finding::to_string).collect();
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(
            findings[0].contains("the feature `plain` has no description"),
            "{findings:?}"
        );
        assert!(
            findings[1].starts_with("crates/a/README.md: there is no place"),
            "{findings:?}"
        );
    }
}
