//! Wires: the code of every API has the same files, so that knowledge about one applies to all.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::report::finding::Finding;
use crate::source::sources::Sources;

/// The folder with a folder for each API.
const FOLDER: &str = "crates/agcore-wire/src/";

/// The files of every API.
const REQUIRED: &[&str] = &[
    "docs.md",
    "encode.rs",
    "encode/assistant.rs",
    "encode/body.rs",
    "encode/content.rs",
    "encode/message.rs",
    "encode/parameters.rs",
    "encode/tools.rs",
    "decode.rs",
    "decode/call.rs",
    "decode/event.rs",
    "decode/finish.rs",
    "decode/message.rs",
    "decode/state.rs",
    "decode/usage.rs",
    "vendor.rs",
];

/// Further files of an API. Each one is also described in the `docs.md` of the API.
const EXTRAS: &[(&str, &[&str])] = &[
    (
        "anthropic",
        &[
            "decode/block.rs",
            "decode/delta.rs",
            "encode/block.rs",
            "encode/caching.rs",
            "encode/schema.rs",
            "encode/source.rs",
            "models.rs",
            "settings.rs",
        ],
    ),
    (
        "bedrock",
        &[
            "decode/block.rs",
            "decode/failure.rs",
            "encode/block.rs",
            "encode/caching.rs",
            "encode/list.rs",
            "encode/media.rs",
            "encode/model.rs",
            "path.rs",
            "settings.rs",
        ],
    ),
    (
        "gemini",
        &[
            "decode/choice.rs",
            "decode/members.rs",
            "decode/partial_args.rs",
            "embed.rs",
            "encode/media.rs",
            "encode/model.rs",
            "encode/part.rs",
            "models.rs",
            "path.rs",
            "settings.rs",
        ],
    ),
    ("ollama", &["decode/lines.rs", "embed.rs", "settings.rs"]),
    (
        "openai_chat",
        &[
            "decode/choice.rs",
            "decode/content.rs",
            "decode/emitted_text.rs",
            "decode/member.rs",
            "decode/reasoning_details.rs",
            "decode/surrogates.rs",
            "embed.rs",
            "encode/body_size.rs",
            "encode/context.rs",
            "encode/media.rs",
            "encode/schema.rs",
            "encode/tool_cache.rs",
        ],
    ),
    (
        "openai_responses",
        &[
            "decode/emitter.rs",
            "decode/hosted.rs",
            "decode/item.rs",
            "decode/json.rs",
            "decode/part.rs",
            "decode/state/complete_item.rs",
            "encode/context.rs",
            "encode/item.rs",
        ],
    ),
];

/// The private feature that every API enables, and the one that enables every API.
const ANY_API: &str = "_api";
const ALL_APIS: &str = "all-apis";

const THIS_FILE: &str = "xtask/src/tidy/wires.rs";

/// Returns whether a file is one of those that every API has.
pub(super) fn is_required(path: &str) -> bool {
    let name = path.strip_prefix(FOLDER).and_then(|path| path.split_once('/'));
    name.is_some_and(|(_, name)| REQUIRED.contains(&name))
}

/// Checks the files of every API. A folder with an encoder and a decoder is an API.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    check(sources, EXTRAS)
}

fn check(sources: &Sources, extras: &[(&str, &[&str])]) -> Vec<Finding> {
    let apis = apis(sources);
    let mut findings = Vec::new();
    for api in &apis {
        let allowed = extras
            .iter()
            .find(|(name, _)| name == api)
            .map_or(&[][..], |(_, extras)| extras);
        findings.extend(missing(sources, api));
        findings.extend(unexpected(sources, api, allowed));
    }
    findings.extend(stale(sources, &apis, extras));
    findings.extend(
        sources
            .package_manifests()
            .flat_map(|file| not_in_all_apis(&file.path, &file.text)),
    );
    findings
}

/// Finds features that enable an API, but are not enabled by the feature for all of them.
fn not_in_all_apis(path: &str, manifest: &str) -> Vec<Finding> {
    let manifest = manifest.parse::<Table>().unwrap_or_default();
    let Some(features) = manifest.get("features").and_then(Value::as_table) else {
        return Vec::new();
    };
    let enables = |feature: &str, other: &str| {
        let list = features.get(feature).and_then(Value::as_array);
        list.into_iter().flatten().any(|entry| entry.as_str() == Some(other))
    };
    let apis = features.keys().filter(|feature| enables(feature, ANY_API));
    let missing = apis.filter(|api| features.contains_key(ALL_APIS) && !enables(ALL_APIS, api));
    let findings = missing.map(|api| {
        let problem = format!("`{ALL_APIS}` does not enable `{api}`");
        Finding::new(path, problem, format!("add `{api}` to `{ALL_APIS}`"))
    });
    findings.collect()
}

fn apis(sources: &Sources) -> BTreeSet<&str> {
    let files = sources.iter().filter_map(|file| file.path.strip_prefix(FOLDER));
    let encoders = files.filter_map(|path| path.strip_suffix("/encode.rs"));
    let has_decoder = |api: &&str| sources.get(&format!("{FOLDER}{api}/decode.rs")).is_some();
    encoders.filter(|api| !api.contains('/')).filter(has_decoder).collect()
}

fn missing(sources: &Sources, api: &str) -> impl Iterator<Item = Finding> {
    let required = REQUIRED.iter().map(move |name| format!("{FOLDER}{api}/{name}"));
    let missing = required.filter(|path| sources.get(path).is_none());
    missing.map(|path| {
        Finding::new(
            path,
            "the file is missing, every API has it",
            "see *Adding a wire* in CONTRIBUTING.md",
        )
    })
}

/// Finds files that are neither required nor listed, and listed ones without a description.
fn unexpected(sources: &Sources, api: &str, allowed: &[&str]) -> Vec<Finding> {
    let folder = format!("{FOLDER}{api}/");
    let docs = sources.get(&format!("{folder}docs.md")).map_or("", |docs| &docs.text);
    let mut findings = Vec::new();
    for file in sources.iter().filter(|file| !file.is_test_code()) {
        let Some(name) = file.path.strip_prefix(&folder) else {
            continue;
        };
        // A file below a listed one is a part of it.
        let root = name.rsplit_once('/').map(|(folder, _)| format!("{folder}.rs"));
        let is_part = root.is_some_and(|root| allowed.contains(&&*root));
        if REQUIRED.contains(&name) || is_part {
            continue;
        }
        if !allowed.contains(&name) {
            findings.push(Finding::new(
                &file.path,
                "other APIs have no such file",
                format!("move its code to one of the common files, or list it in {THIS_FILE} and in {folder}docs.md"),
            ));
        } else if !docs.contains(&format!("`{name}`")) {
            findings.push(Finding::new(
                format!("{folder}docs.md"),
                format!("{name} is not described"),
                format!("describe `{name}` in a sentence"),
            ));
        }
    }
    findings
}

fn stale(sources: &Sources, apis: &BTreeSet<&str>, extras: &[(&str, &[&str])]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (api, names) in extras.iter().filter(|(api, _)| apis.contains(api)) {
        let absent = names
            .iter()
            .filter(|name| sources.get(&format!("{FOLDER}{api}/{name}")).is_none());
        findings.extend(absent.map(|name| {
            Finding::new(
                THIS_FILE,
                format!("{api}/{name} does not exist"),
                "remove it from the list",
            )
        }));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTRAS: &[(&str, &[&str])] = &[("a", &["models.rs"]), ("b", &["x.rs"])];

    /// Checks an API with the required files, except for those in `without`, and the files in `with`.
    #[track_caller]
    fn check_files(without: &[&str], with: &[&str], docs: &str, expected: &[&str]) {
        let required = REQUIRED.iter().filter(|name| !without.contains(name));
        let paths: Vec<String> = required.chain(with).map(|name| format!("{FOLDER}a/{name}")).collect();
        let files = paths.iter().map(|path| match path.ends_with("docs.md") {
            true => (path.as_str(), docs),
            false => (path.as_str(), ""),
        });
        let found = check(&files.collect(), EXTRAS);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, expected) in found.iter().zip(expected) {
            assert!(finding.to_string().contains(expected), "{finding}");
        }
    }

    #[test]
    fn every_api_has_the_same_files() {
        check_files(&[], &["models.rs"], "- `models.rs`: the list of models.", &[]);
        check_files(
            &["vendor.rs"],
            &["models.rs"],
            "`models.rs`",
            &["crates/agcore-wire/src/a/vendor.rs: the file is missing"],
        );
    }

    #[test]
    fn a_further_file_is_listed_and_described() {
        check_files(
            &[],
            &["models.rs", "encode/own.rs"],
            "`models.rs`",
            &["a/encode/own.rs: other APIs have no such file"],
        );
        check_files(&[], &["models.rs", "models/page.rs"], "`models.rs`", &[]);
        check_files(&[], &["models.rs"], "", &["a/docs.md: models.rs is not described"]);
        check_files(&[], &[], "", &["a/models.rs does not exist"]);
    }

    #[test]
    fn all_apis_is_complete() {
        let manifest = "[features]\na = [\"_api\"]\nb = [\"dep:b\", \"_api\"]\nc = []\nall-apis = [\"a\"]\n_api = []\n";
        let found = not_in_all_apis("crates/x/Cargo.toml", manifest);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].to_string().contains("`all-apis` does not enable `b`"),
            "{found:?}"
        );
    }

    #[test]
    fn shared_code_is_not_an_api() {
        let sources = Sources::from([("crates/agcore-wire/src/encode/tools.rs", "")]);
        assert_eq!(check(&sources, &[]), []);
    }
}
