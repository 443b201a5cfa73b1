//! The dependency tree of one crate, resolved by `cargo tree`.

use std::collections::BTreeSet;

use crate::process::{self, Cargo};

/// A query for `cargo tree`.
#[derive(Debug, Clone)]
pub(crate) struct Query<'a> {
    pub(crate) package: &'a str,
    pub(crate) features: Features<'a>,
    /// `normal`, or `normal,build`.
    pub(crate) edges: &'a str,
    /// `None` means the host.
    pub(crate) target: Option<&'a str>,
}

/// The features that the crate is resolved with.
#[derive(Debug, Clone)]
pub(crate) enum Features<'a> {
    Default,
    All,
    /// Only these, without the default features.
    Only(Vec<&'a str>),
}

/// The distinct crates of a tree, including its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    lines: BTreeSet<String>,
}

impl Tree {
    /// Resolves the tree of one crate on its own, without features that only other members of the workspace ask for.
    pub(crate) fn ask(cargo: &Cargo, query: &Query<'_>) -> anyhow::Result<Self> {
        let output = process::stdout(&mut cargo.command(arguments(query)))?;
        Ok(Self::parse(&output))
    }

    fn parse(output: &str) -> Self {
        let lines = output.lines().map(str::trim_end);
        let lines = lines.filter(|line| !line.is_empty()).map(str::to_owned);
        Self { lines: lines.collect() }
    }

    /// Returns the number of crates, which is the number of distinct lines that
    /// `cargo tree --edges normal --prefix none --no-dedupe` prints.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the name and version of each crate.
    pub(crate) fn crates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.iter().filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?.strip_prefix('v')?))
        })
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.crates().any(|(found, _)| found == name)
    }
}

fn arguments(query: &Query<'_>) -> Vec<String> {
    let mut arguments: Vec<String> = ["tree", "--prefix", "none", "--no-dedupe", "--edges"]
        .map(str::to_owned)
        .to_vec();
    let mut push = |words: &[&str]| arguments.extend(words.iter().map(|&word| word.to_owned()));
    push(&[query.edges, "--package", query.package]);
    match &query.features {
        Features::Default => {}
        Features::All => push(&["--all-features"]),
        Features::Only(features) => {
            push(&["--no-default-features", "--features", &features.join(",")]);
        }
    }
    if let Some(target) = query.target {
        push(&["--target", target]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
agcore-chat v0.1.0 (/somewhere/agcore-chat)
serde v1.0.229
serde_core v1.0.229
serde_derive v1.0.229 (proc-macro)
serde v1.0.229
";

    #[test]
    fn counts_each_crate_once() {
        let tree = Tree::parse(OUTPUT);
        assert_eq!(tree.len(), 4);
        let names: Vec<_> = tree.crates().collect();
        assert_eq!(names[0], ("agcore-chat", "0.1.0"));
        assert_eq!(names[3], ("serde_derive", "1.0.229"));
    }

    #[test]
    fn compares_whole_names() {
        let tree = Tree::parse(OUTPUT);
        assert!(tree.contains("serde"));
        assert!(!tree.contains("serde_"));
    }

    #[test]
    fn passes_an_empty_list_of_features() {
        let query = Query {
            package: "agcore-tools",
            features: Features::Only(Vec::new()),
            edges: "normal",
            target: Some("wasm32-unknown-unknown"),
        };
        let expected = "tree --prefix none --no-dedupe --edges normal --package agcore-tools \
                        --no-default-features --features  --target wasm32-unknown-unknown";
        assert_eq!(arguments(&query).join(" "), expected);
    }
}
