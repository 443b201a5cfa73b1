//! The licenses of all crates in a program, with the texts in their packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use cargo_metadata::{Metadata, MetadataCommand};

use crate::process::{self, Cargo};
use crate::tree::Tree;

/// The starts of the names of files with licenses, in lower case.
const NAMES: [&str; 6] = ["copying", "copyright", "license", "licence", "notice", "unlicense"];

/// The largest file that is a license, in bytes.
const MAX_TEXT: u64 = 256 * 1024;

/// The list of licenses.
#[derive(Debug)]
pub(super) struct Licenses {
    /// The list as Markdown, with all texts.
    pub(super) text: String,
    /// The texts that are missing, in words.
    pub(super) missing: Vec<String>,
}

/// One crate and its license.
#[derive(Debug)]
struct Licensed {
    /// Name and version.
    name: String,
    /// The license as an expression, such as `MIT OR Apache-2.0`.
    expression: String,
    /// The files with the texts: name and text.
    texts: Vec<(String, String)>,
}

/// Reads the licenses of the crates in a tree, without those of this workspace.
pub(super) fn collect(cargo: &Cargo, tree: &Tree) -> anyhow::Result<Licenses> {
    let arguments = ["metadata", "--format-version", "1", "--all-features", "--locked"];
    let json = process::stdout(&mut cargo.command(arguments))?;
    let metadata: Metadata = MetadataCommand::parse(json)?;
    let mut crates = Vec::new();
    for package in &metadata.packages {
        let version = package.version.to_string();
        let is_used = tree
            .crates()
            .any(|found| found == (package.name.as_str(), version.as_str()));
        if package.source.is_some() && is_used {
            let folder = package.manifest_path.parent().context("a manifest has no folder")?;
            crates.push(Licensed {
                name: format!("{} {version}", package.name),
                expression: package.license.clone().unwrap_or_else(|| "see its files".to_owned()),
                texts: texts(folder.as_std_path())?,
            });
        }
    }
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(listed(&crates))
}

/// Returns the texts of the licenses in a package, sorted by name.
fn texts(folder: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let lower = name.to_lowercase();
        let metadata = entry.metadata()?;
        let is_license = NAMES.iter().any(|start| lower.starts_with(start)) && !lower.ends_with(".rs");
        if is_license && metadata.is_file() && metadata.len() <= MAX_TEXT {
            let text = String::from_utf8_lossy(&fs::read(entry.path())?).trim_end().to_owned();
            texts.push((name, text));
        }
    }
    texts.sort();
    Ok(texts)
}

/// Writes a table of all crates, and every text once, with the crates that it comes from.
fn listed(crates: &[Licensed]) -> Licenses {
    let mut text = format!(
        "# Licenses of third-party crates\n\nThe program contains {} crates of others.\n\n| crate | license |\n|---|---|\n",
        crates.len()
    );
    for licensed in crates {
        text.push_str(&format!("| {} | {} |\n", licensed.name, licensed.expression));
    }
    let mut by_text: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for licensed in crates {
        for (file, content) in &licensed.texts {
            by_text
                .entry(content)
                .or_default()
                .push(format!("{} ({file})", licensed.name));
        }
    }
    let mut by_text: Vec<(Vec<String>, &str)> = by_text.into_iter().map(|(text, users)| (users, text)).collect();
    by_text.sort();
    for (users, content) in by_text {
        let fence = "`".repeat(longest_run(content).max(2) + 1);
        text.push_str(&format!(
            "\n## {}\n\n{fence}text\n{content}\n{fence}\n",
            users.join(", ")
        ));
    }
    let without: Vec<&str> = crates
        .iter()
        .filter(|licensed| licensed.texts.is_empty())
        .map(|licensed| licensed.name.as_str())
        .collect();
    let missing = match without.as_slice() {
        [] => Vec::new(),
        names => vec![format!(
            "the texts of {} licenses, whose packages contain none: {}",
            names.len(),
            names.join(", ")
        )],
    };
    Licenses { text, missing }
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn licensed(name: &str, texts: &[(&str, &str)]) -> Licensed {
        let owned = |(file, text): &(&str, &str)| ((*file).to_owned(), (*text).to_owned());
        Licensed {
            name: name.to_owned(),
            expression: "MIT".to_owned(),
            texts: texts.iter().map(owned).collect(),
        }
    }

    #[test]
    fn every_text_is_listed_once_and_missing_ones_are_named() {
        let list = listed(&[
            licensed("a 1.0.0", &[("LICENSE", "the ```text```")]),
            licensed("b 2.0.0", &[("LICENSE-MIT", "the ```text```")]),
            licensed("c 3.0.0", &[]),
        ]);
        assert!(list.text.contains("contains 3 crates") && list.text.contains("| c 3.0.0 | MIT |"));
        assert_eq!(list.text.matches("the ```text```").count(), 1);
        assert!(
            list.text
                .contains("## a 1.0.0 (LICENSE), b 2.0.0 (LICENSE-MIT)\n\n````text\n"),
            "{}",
            list.text
        );
        assert_eq!(list.missing.len(), 1);
        assert!(list.missing[0].ends_with(": c 3.0.0"));
    }

    #[test]
    fn finds_the_files_with_licenses() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("LICENSE-MIT", "mit\n"),
            ("COPYING", "c"),
            ("license.rs", "no"),
            ("README.md", "no"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        fs::create_dir(folder.path().join("LICENSES")).unwrap();
        let found = texts(folder.path()).unwrap();
        let expected = [("COPYING", "c"), ("LICENSE-MIT", "mit")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(found, expected);
    }
}
