//! Symbols: a build with one wire has no code of another.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use cargo_metadata::Message;

use crate::check::Check;
use crate::finding::Finding;
use crate::process;
use crate::workspace::Workspace;

const PACKAGE: &str = "agcore-llm";

/// The wires: feature and module.
const WIRES: &[(&str, &str)] = &[
    ("anthropic", "anthropic"),
    ("ollama", "ollama"),
    ("openai-chat", "openai_chat"),
    ("openai-responses", "openai_responses"),
];

/// Builds the library with each wire alone and reads the names in what came out.
pub(super) fn check(workspace: &Workspace) -> Vec<Check> {
    let Some(package) = workspace.member(PACKAGE) else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    for (feature, _) in WIRES
        .iter()
        .filter(|(feature, _)| package.features.contains_key(*feature))
    {
        let found = build(workspace, feature).map(|library| findings(feature, &library));
        checks.push(Check::from_result(
            format!("{PACKAGE} with `{feature}` has no other wire's code"),
            found,
        ));
    }
    checks
}

/// The bytes of the library built with one feature.
fn build(workspace: &Workspace, feature: &str) -> anyhow::Result<Vec<u8>> {
    let arguments = [
        "build",
        "--lib",
        "--message-format=json",
        "--package",
        PACKAGE,
        "--no-default-features",
    ];
    let mut command = workspace.cargo.command(arguments);
    let told = process::stdout(command.args(["--features", feature]))?;
    let library = Message::parse_stream(told.as_bytes())
        .filter_map(|message| match message {
            Ok(Message::CompilerArtifact(artifact)) => Some(artifact),
            _ => None,
        })
        .filter(|artifact| artifact.target.name == PACKAGE.replace('-', "_"))
        .flat_map(|artifact| artifact.filenames)
        .find(|file| file.extension() == Some("rlib"));
    let Some(library) = library else {
        bail!("cargo built no library");
    };
    let library = PathBuf::from(library);
    std::fs::read(&library).with_context(|| format!("cannot read {}", library.display()))
}

fn findings(feature: &str, library: &[u8]) -> Vec<Finding> {
    let finding = |problem: String| {
        let remedy = "put the module behind its feature, and what several wires need into a room of its own";
        Finding::new(format!("crates/{PACKAGE}/src/wire.rs"), problem, remedy)
    };
    let wrong = |(wire, module): &(&str, &str)| match (*wire == feature, has_code_of(library, module)) {
        (true, false) => Some(finding(format!(
            "`{wire}` was built and its symbols are not found: this check is blind"
        ))),
        (false, true) => Some(finding(format!(
            "a build with `{feature}` alone has symbols of `{wire}`"
        ))),
        _ => None,
    };
    WIRES.iter().filter_map(wrong).collect()
}

/// Whether a symbol of `wire::<module>` is in the bytes. Symbols hold each part of a path behind its length.
fn has_code_of(library: &[u8], module: &str) -> bool {
    let symbol = format!("4wire{}{module}", module.len());
    library.windows(symbol.len()).any(|bytes| bytes == symbol.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_another_wire_is_found() {
        let library = b"_ZN10agcore_llm4wire9anthropic6encode17h0E _ZN10agcore_llm4wire6ollama6encode17h0E";
        let found = findings("anthropic", library);
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().contains("symbols of `ollama`"), "{}", found[0]);
    }

    #[test]
    fn a_check_that_sees_nothing_fails() {
        let found = findings("anthropic", b"_ZN10agcore_llm4wire7failure4read17h0E");
        assert!(found[0].to_string().contains("this check is blind"), "{}", found[0]);
    }

    #[test]
    fn its_own_code_is_as_it_should_be() {
        assert!(findings("ollama", b"_ZN10agcore_llm4wire6ollama6encode17h0E").is_empty());
    }
}
