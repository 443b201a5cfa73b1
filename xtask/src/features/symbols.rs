//! Symbols: a build with one API contains no code of another.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use cargo_metadata::Message;

use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::workspace::{Package, Workspace};

const PACKAGE: &str = "agcore-wire";

/// The private feature that every API enables.
const API: &str = "_api";

/// Builds the library with each API alone and searches the result for symbols of the others.
pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    let Some(package) = workspace.member(PACKAGE) else {
        return;
    };
    let apis = apis(package);
    for feature in &apis {
        let found = build(workspace, feature).map(|library| findings(&apis, feature, &library));
        let name = format!("{PACKAGE} with `{feature}` contains no code of other APIs");
        report.add(&Check::from_result(name, found));
    }
}

/// Returns the features that stand for one API each: those that enable the private feature themselves.
fn apis(package: &Package) -> Vec<&str> {
    let enables_api = |enabled: &[String]| enabled.iter().any(|feature| feature == API);
    let apis = package.features.iter().filter(|(_, enabled)| enables_api(enabled));
    apis.map(|(feature, _)| feature.as_str()).collect()
}

/// Returns the bytes of the library built with one feature.
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
    let output = process::stdout(command.args(["--features", feature]))?;
    let library = Message::parse_stream(output.as_bytes())
        .filter_map(|message| match message {
            Ok(Message::CompilerArtifact(artifact)) => Some(artifact),
            _ => None,
        })
        .filter(|artifact| artifact.target.name == crate_name())
        .flat_map(|artifact| artifact.filenames)
        .find(|file| file.extension() == Some("rlib"));
    let Some(library) = library else {
        bail!("cargo built no library");
    };
    let library = PathBuf::from(library);
    std::fs::read(&library).with_context(|| format!("cannot read {}", library.display()))
}

fn findings(apis: &[&str], feature: &str, library: &[u8]) -> Vec<Finding> {
    let finding = |problem: String| {
        let remedy = "put the module behind its feature, and code that several APIs share into `decode` or `encode`";
        Finding::new(format!("crates/{PACKAGE}/src/lib.rs"), problem, remedy)
    };
    let wrong = |api: &&str| match (*api == feature, has_code_of(library, api)) {
        (true, false) => Some(finding(format!(
            "`{api}` was built but its symbols were not found, so this check proves nothing"
        ))),
        (false, true) => Some(finding(format!(
            "a build with `{feature}` alone contains symbols of `{api}`"
        ))),
        _ => None,
    };
    apis.iter().filter_map(wrong).collect()
}

/// Returns whether the bytes contain a symbol of the module of an API. Mangled symbols hold each path segment after its
/// length.
fn has_code_of(library: &[u8], api: &str) -> bool {
    let (package, module) = (crate_name(), api.replace('-', "_"));
    let symbol = format!("{}{package}{}{module}", package.len(), module.len());
    library.windows(symbol.len()).any(|bytes| bytes == symbol.as_bytes())
}

fn crate_name() -> String {
    PACKAGE.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    const APIS: &[&str] = &["anthropic", "ollama", "openai-chat"];

    #[test]
    fn reports_code_of_another_api() {
        let library = b"_ZN11agcore_wire9anthropic6encode17h0E _ZN11agcore_wire6ollama6encode17h0E";
        let found = findings(APIS, "anthropic", library);
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().contains("symbols of `ollama`"), "{}", found[0]);
    }

    #[test]
    fn fails_if_it_finds_no_symbols_at_all() {
        let found = findings(APIS, "openai-chat", b"_ZN11agcore_wire7failure4read17h0E");
        assert!(found[0].to_string().contains("proves nothing"), "{}", found[0]);
    }

    #[test]
    fn accepts_its_own_code() {
        assert!(findings(APIS, "ollama", b"_ZN11agcore_wire6ollama6encode17h0E").is_empty());
    }
}
