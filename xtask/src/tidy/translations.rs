//! A translated page, `NAME.zh-CN.md`, is in step with `NAME.md` beside it: the same headings, code, tables and links, in the
//! same order, and rows of tables with the same code, numbers and names.

use std::fmt;

use crate::report::finding::Finding;
use crate::source::sources::{SourceFile, Sources};

/// The end of the name of a translated page.
const TRANSLATION: &str = ".zh-CN.md";

/// A part of a page that does not depend on the language.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    /// A heading of this level.
    Heading(usize),
    /// A block of code with its fences.
    Code(Vec<&'a str>),
    /// A row of a table with this number of cells, and what no language changes in it.
    Row(usize, Vec<&'a str>),
    /// A link, without the anchor, to a page in either language.
    Link(String),
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heading(level) => write!(formatter, "a heading of level {level}"),
            Self::Code(lines) => write!(formatter, "the code `{}`", lines.get(1).unwrap_or(&"")),
            Self::Row(cells, fixed) if fixed.is_empty() => write!(formatter, "a row of {cells} cells"),
            Self::Row(cells, fixed) => write!(formatter, "a row of {cells} cells with {}", fixed.join(", ")),
            Self::Link(target) => write!(formatter, "a link to `{target}`"),
        }
    }
}

/// Checks all translated pages.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let pages = sources.iter().filter(|file| file.path.ends_with(TRANSLATION));
    pages.filter_map(|page| difference(sources, page)).collect()
}

fn difference(sources: &Sources, page: &SourceFile) -> Option<Finding> {
    let original_path = page.path.replace(TRANSLATION, ".md");
    let Some(original) = sources.get(&original_path) else {
        return Some(Finding::new(
            &page.path,
            format!("the page translates `{original_path}`, which does not exist"),
            "rename or remove the page",
        ));
    };
    let (original, translated) = (parts(&original.text), parts(&page.text));
    let position =
        (0..original.len().max(translated.len())).find(|&at| !is_same(original.get(at), translated.get(at)))?;
    let shown = |parts: &[(usize, Part<'_>)]| match parts.get(position) {
        Some((line, part)) => format!("{part} in line {line}"),
        None => "the end of the page".to_owned(),
    };
    let (expected, found) = (shown(&original), shown(&translated));
    Some(Finding::new(
        &page.path,
        format!("`{original_path}` has {expected}, and the translation has {found}"),
        "translate the last change of the original",
    ))
}

fn is_same(original: Option<&(usize, Part<'_>)>, translated: Option<&(usize, Part<'_>)>) -> bool {
    original.map(|(_, part)| part) == translated.map(|(_, part)| part)
}

/// Returns the parts of a page with the numbers of their lines. The links of a paragraph come in the order of their targets,
/// because languages order words differently.
fn parts(text: &str) -> Vec<(usize, Part<'_>)> {
    let mut parts = Vec::new();
    let mut code: Option<(usize, Vec<&str>)> = None;
    let mut links: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_fence = line.trim_start().starts_with("```");
        match &mut code {
            Some((_, lines)) => {
                lines.push(line);
                if is_fence {
                    parts.extend(code.take().map(|(start, lines)| (start, Part::Code(lines))));
                }
            }
            None if is_fence => {
                flush(&mut links, &mut parts);
                code = Some((number, vec![line]));
            }
            None => {
                prose(number, line, &mut links, &mut parts);
            }
        }
    }
    flush(&mut links, &mut parts);
    parts
}

/// Adds the parts of a line outside of code.
fn prose<'a>(number: usize, line: &'a str, links: &mut Vec<(usize, String)>, parts: &mut Vec<(usize, Part<'a>)>) {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if line.trim().is_empty() || level > 0 || line.starts_with('|') {
        flush(links, parts);
    }
    if level > 0 {
        parts.push((number, Part::Heading(level)));
    }
    if line.starts_with('|') {
        parts.push((number, Part::Row(line.matches('|').count() - 1, fixed(line))));
    }
    links.extend(targets(line).map(|target| (number, target)));
}

/// Moves the links of a paragraph to the parts.
fn flush(links: &mut Vec<(usize, String)>, parts: &mut Vec<(usize, Part<'_>)>) {
    links.sort_by(|one, other| one.1.cmp(&other.1));
    parts.extend(links.drain(..).map(|(number, target)| (number, Part::Link(target))));
}

/// Returns the code, numbers, abbreviations and names such as `OpenAI` of a line, sorted.
fn fixed(line: &str) -> Vec<&str> {
    let (mut code, mut words) = (Vec::new(), Vec::new());
    for (position, part) in line.split('`').enumerate() {
        let list = if position % 2 == 1 { &mut code } else { &mut words };
        list.push(part);
    }
    let words = words
        .into_iter()
        .flat_map(|text| text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.'))
        .map(|word| word.trim_matches('.'))
        .filter(|word| is_fixed(word));
    code.extend(words);
    code.sort_unstable();
    code.dedup();
    code
}

/// Returns whether a word has a digit or two capitals.
fn is_fixed(word: &str) -> bool {
    let capitals = word.bytes().filter(u8::is_ascii_uppercase).count();
    capitals > 1 || word.bytes().any(|byte| byte.is_ascii_digit())
}

fn targets(line: &str) -> impl Iterator<Item = String> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| {
        let path = target.split('#').next().unwrap_or_default();
        path.replace(TRANSLATION, ".md")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGINAL: &str =
        "# agcore\n\nSee [one](a.md#x) and [two](b.md).\n\n```sh\ncargo run\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";

    #[track_caller]
    fn check(translated: &str, expected: Option<&str>) {
        let sources = Sources::from([("README.md", ORIGINAL), ("README.zh-CN.md", translated)]);
        let found = findings(&sources);
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    #[test]
    fn the_order_of_words_and_links_may_differ() {
        check(
            "# agcore 中文\n\n参见[二](b.md)和[一](a.zh-CN.md#y)。\n\n```sh\ncargo run\n```\n\n| 甲 | 乙 |\n|---|---|\n| 1 | 2 |\n",
            None,
        );
    }

    #[test]
    fn a_change_of_the_original_is_found() {
        let page = ORIGINAL.replace("cargo run", "cargo test");
        check(
            &page,
            Some("has the code `cargo run` in line 5, and the translation has the code `cargo test`"),
        );
        check(&ORIGINAL.replace("[two](b.md)", "two"), Some("a link to `b.md`"));
        check(
            &ORIGINAL.replace("| 1 | 2 |\n", ""),
            Some("the translation has the end of the page"),
        );
        check(&format!("{ORIGINAL}\n## More\n"), Some("has the end of the page"));
    }

    #[test]
    fn rows_have_the_same_code_numbers_and_names() {
        let row = "| [a](a) | files as tables: CSV, XLSX with `calamine`, OpenAI 0.43, 20.5 µs. |";
        assert_eq!(fixed(row), ["0.43", "20.5", "CSV", "OpenAI", "XLSX", "calamine"]);
        let original = format!("{ORIGINAL}{row}\n");
        let check = |translated: &str, expected: &[&str]| {
            let translated = original.replace(row, translated);
            let sources = Sources::from([("README.md", original.as_str()), ("README.zh-CN.md", &translated)]);
            let found: Vec<_> = findings(&sources).iter().map(ToString::to_string).collect();
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.contains(expected), "{found}");
            }
        };
        check(
            "| [a](a) | 表格：XLSX（`calamine`）和 CSV，OpenAI 0.43，20.5 微秒 |",
            &[],
        );
        check(
            "| [a](a) | 表格：XLSX（`calamine`），OpenAI 0.43，20.5 微秒 |",
            &["the translation has a row of 2 cells with 0.43, 20.5, OpenAI, XLSX, calamine"],
        );
        check(
            "| [a](a) | 表格：XLSX（`calamine`）和 CSV，OpenAI 0.43，20.6 微秒 |",
            &["with 0.43, 20.6"],
        );
        check(
            "| [a](a) | 表格：XLSX 和 CSV，OpenAI 0.43，20.5 微秒 |",
            &["20.5, CSV, OpenAI, XLSX in line"],
        );
    }

    #[test]
    fn a_page_without_an_original_is_found() {
        let found = findings(&Sources::from([("docs/x.zh-CN.md", "# x\n")]));
        assert!(
            found[0].to_string().contains("`docs/x.md`, which does not exist"),
            "{found:?}"
        );
    }
}
