//! Composes the snapshot that the library ships, from two public price lists; `cargo xtask catalog` runs it. Without arguments it
//! prints its usage.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for developers, with arguments"
)]

use std::{error::Error, fs};

use agcore_catalog::{Snapshot, SnapshotCheck, SnapshotImport, SnapshotSource, SourceFormat};

const USAGE: &str = "usage: snapshot VENDORS SOURCES LITELLM SECOND OUTPUT REPORT, where VENDORS has the vendors, SOURCES a JSON list \
                     of the two sources, LITELLM LiteLLM's list, and SECOND another list in the form of models.dev";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        println!("{USAGE}");
        return Ok(());
    }
    let [vendors, sources, litellm, second, output, report] = &arguments[..] else {
        return Err(USAGE.into());
    };
    let vendors = Snapshot::parse(vendors, &fs::read_to_string(vendors)?)?;
    let sources: Vec<SnapshotSource> = serde_json::from_str(&fs::read_to_string(sources)?)?;
    let [first_source, second_source] = &sources[..] else {
        return Err("SOURCES is a list of two sources".into());
    };
    let import = |format, source: &SnapshotSource, path| -> Result<SnapshotImport, Box<dyn Error>> {
        Ok(vendors.import(format, source.clone(), &fs::read_to_string(path)?)?)
    };
    let first = import(SourceFormat::LiteLlm, first_source, litellm)?;
    let other = import(SourceFormat::ModelsDev, second_source, second)?;
    let check = first.snapshot.checked_against(&other.snapshot)?;
    fs::write(output, check.snapshot.as_text())?;
    fs::write(report, describe(&check, &first, &sources))?;
    let shipped = &check.snapshot;
    let models: usize = shipped.vendors().map(|vendor| shipped.models(&vendor.name).len()).sum();
    println!(
        "{} vendors, {models} models, {} bytes; {} confirmed, {} unconfirmed, {} different values",
        shipped.vendors().count(),
        shipped.as_text().len(),
        check.confirmed,
        check.unconfirmed,
        check.disagreements.len()
    );
    Ok(())
}

/// Writes the report as Markdown.
fn describe(check: &SnapshotCheck, first: &SnapshotImport, sources: &[SnapshotSource]) -> String {
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let mut text = format!(
        "# The comparison of the sources\n\n`cargo xtask catalog` writes this file. The first source is {}, the second one {}. The \
         value of the first one is shipped; that of the second one only where the first has no price.\n\n\
         Standard prices of {} rows are the same in both, and {} are in the first one only. Rates are in USD for a million tokens.\n",
        names.first().unwrap_or(&"unknown"),
        names.get(1).unwrap_or(&"unknown"),
        check.confirmed,
        check.unconfirmed
    );
    text += &format!("\n## Different values\n\n{} values:\n\n", check.disagreements.len());
    text.extend(check.disagreements.iter().map(|found| format!("- {found}\n")));
    text += &format!(
        "\n## Left out\n\n{} values of the first source:\n\n",
        first.skipped.len()
    );
    text.extend(first.skipped.iter().map(|problem| format!("- {problem}\n")));
    text
}
