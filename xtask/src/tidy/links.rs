//! Relative links in Markdown pages lead to files and folders that exist.
//!
//! Pages in `src` folders are left out: they are part of the docs of a crate, where links name items and rustdoc checks them.

use crate::report::finding::Finding;
use crate::source::markdown;
use crate::source::sources::{SourceFile, Sources};

/// Checks all pages outside of `src` folders.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let pages = sources.iter().filter(|file| is_page(file));
    pages.flat_map(|page| broken(sources, page)).collect()
}

fn is_page(file: &SourceFile) -> bool {
    file.extension() == Some("md") && !file.path.contains("/src/")
}

fn broken<'a>(sources: &'a Sources, page: &'a SourceFile) -> impl Iterator<Item = Finding> + 'a {
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let links = markdown::prose(&page.text).flat_map(|(line, text)| targets(text).map(move |target| (line, target)));
    links.filter_map(move |(line, target)| {
        let path = resolve(folder, target)?;
        (!exists(sources, &path)).then(|| {
            Finding::new(
                format!("{}:{line}", page.path),
                format!("the link `{target}` leads to `{path}`, which does not exist"),
                "correct the path, or remove the link",
            )
        })
    })
}

/// Returns the target of each link `[text](target)` in a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split("](").skip(1);
    parts.filter_map(|part| part.split_once(')').map(|(target, _)| target))
}

/// Returns the path of a link relative to the root; `None` if the link leads elsewhere: to a web page, to a heading of the
/// same page, or to an item.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let path = target.split('#').next().unwrap_or_default();
    if path.is_empty() || path.contains(':') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "" | "." => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn exists(sources: &Sources, path: &str) -> bool {
    let inside = format!("{path}/");
    sources.get(path).is_some() || sources.iter().any(|file| file.path.starts_with(&inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, text: &str, expected: Option<&str>) {
        let found = findings(&Sources::from([
            (page, text),
            ("LICENSE-MIT", ""),
            ("docs/errors.md", "# Errors\n"),
            ("examples/chat.rs", ""),
        ]));
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    #[test]
    fn accepts_links_to_files_folders_headings_and_web_pages() {
        let text = "[a](errors.md) [b](../examples/chat.rs), [c](../examples), [d](errors.md#kinds)\n\
                    [e](#below) [f](https://example.com/x.md) [g](../LICENSE-MIT)\n\n```text\n[h](nowhere.md)\n```\n";
        check("docs/page.md", text, None);
        check("README.md", "[a](docs/errors.md)\n", None);
        check("crates/a/src/page.md", "[`b`](crate::b) [c](Type)\n", None);
    }

    #[test]
    fn finds_a_link_that_leads_nowhere() {
        check(
            "docs/guide/page.md",
            "Text.\nSee [errors](errors.md).\n",
            Some("docs/guide/page.md:2: the link `errors.md` leads to `docs/guide/errors.md`"),
        );
        check("README.md", "[a](docs/none#x) [b](docs)\n", Some("`docs/none`"));
    }
}
