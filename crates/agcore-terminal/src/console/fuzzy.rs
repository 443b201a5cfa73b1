//! [`ranked`]: the names of files that match what was typed, the best first.

/// A name of a file, prepared for searches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileName {
    /// The path, with slashes.
    pub(super) path: String,
    /// The path in small letters.
    folded: String,
    /// Where the name without its directory starts in `folded`.
    base: usize,
    is_hidden: bool,
}

impl FileName {
    /// Prepares a path.
    pub(super) fn new(path: String) -> Self {
        let folded = path.to_lowercase();
        let base = folded.rfind('/').map_or(0, |at| at + 1);
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        Self {
            path,
            folded,
            base,
            is_hidden,
        }
    }
}

/// The quality of a match: smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Whether it is hidden, although what was typed is not.
    is_hidden: bool,
    class: u8,
    /// The letters between the first and the last that match.
    gaps: usize,
    /// For an empty search, the number of directories.
    depth: usize,
    length: usize,
}

/// Returns the best `limit` names whose letters contain those of `typed` in this order, and how many names match. Names of files
/// come before those of their directories, and letters that follow each other before those that do not.
pub(super) fn ranked<'n>(names: &'n [FileName], typed: &str, limit: usize) -> (Vec<&'n str>, usize) {
    let typed = typed.to_lowercase();
    let wants_hidden = typed.starts_with('.') || typed.contains("/.");
    let rank = |name: &'n FileName| {
        let (class, gaps) = class(name, &typed)?;
        let rank = Rank {
            is_hidden: name.is_hidden && !wants_hidden,
            class,
            gaps,
            depth: if typed.is_empty() {
                name.path.matches('/').count()
            } else {
                0
            },
            length: if typed.is_empty() { 0 } else { name.path.len() },
        };
        Some((rank, name.path.as_str()))
    };
    let mut found: Vec<(Rank, &str)> = names.iter().filter_map(rank).collect();
    let count = found.len();
    if count > limit {
        found.select_nth_unstable(limit);
        found.truncate(limit);
    }
    found.sort_unstable();
    (found.into_iter().map(|(_, path)| path).collect(), count)
}

/// Returns the class of a match and the letters that do not match in between.
fn class(name: &FileName, typed: &str) -> Option<(u8, usize)> {
    let base = &name.folded[name.base..];
    // With a slash, directories are a part of what was typed.
    if !typed.contains('/') {
        if base.starts_with(typed) {
            return Some((u8::from(base.len() > typed.len()), 0));
        }
        if base.contains(typed) {
            return Some((2, 0));
        }
        if let Some(gaps) = gaps(base, typed) {
            return Some((3, gaps));
        }
    }
    if name.folded.starts_with(typed) {
        return Some((4, 0));
    }
    if name.folded.contains(typed) {
        return Some((5, 0));
    }
    gaps(&name.folded, typed).map(|gaps| (6, gaps))
}

/// Returns the number of letters between the first and the last letter of `typed` in the text that are not in it: the smallest for
/// the last place where it ends. `None` if the text does not contain the letters in this order.
fn gaps(text: &str, typed: &str) -> Option<usize> {
    let mut wanted = typed.chars().rev().peekable();
    let mut last = None;
    for (at, c) in text.char_indices().rev() {
        if wanted.next_if_eq(&c).is_some() {
            last.get_or_insert(at + c.len_utf8());
        }
        if wanted.peek().is_none() {
            let span = last.map_or(0, |last| last - at);
            return Some(span.saturating_sub(typed.len()));
        }
    }
    wanted.peek().is_none().then_some(0)
}

/// Returns whether one of the names is this path.
pub(super) fn contains(names: &[FileName], path: &str) -> bool {
    names.iter().any(|name| name.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], typed: &str, expected: &[&str]) {
        let names: Vec<FileName> = names.iter().map(|name| FileName::new((*name).to_owned())).collect();
        let (found, count) = ranked(&names, typed, 10);
        assert_eq!((found.as_slice(), count), (expected, expected.len()), "{typed}");
    }

    #[test]
    fn the_name_of_a_file_counts_more_than_its_directory() {
        let names = [
            "main/other.rs",
            "src/domain.rs",
            "src/main.rs",
            "main.rs",
            "src/m_a_i_n.rs",
        ];
        check(
            &names,
            "main",
            &[
                "main.rs",
                "src/main.rs",
                "src/domain.rs",
                "src/m_a_i_n.rs",
                "main/other.rs",
            ],
        );
        check(&names, "src/main", &["src/main.rs", "src/domain.rs", "src/m_a_i_n.rs"]);
        check(&names, "smain", &["src/main.rs", "src/domain.rs", "src/m_a_i_n.rs"]);
        check(&names, "xyz", &[]);
    }

    #[test]
    fn letters_may_be_capital_and_belong_to_any_language() {
        check(
            &["README.md", "docs/读我.md", "docs/读一下我.md"],
            "读我",
            &["docs/读我.md", "docs/读一下我.md"],
        );
        check(&["README.md", "src/lib.rs"], "rdm", &["README.md"]);
        check(&["a b/two words.md"], "two w", &["a b/two words.md"]);
        check(&["Straße/ÄÖ.md"], "äö", &["Straße/ÄÖ.md"]);
    }

    #[test]
    fn hidden_files_come_last_unless_they_were_meant() {
        check(&[".github/ci.yml", "src/ci.rs"], "ci", &["src/ci.rs", ".github/ci.yml"]);
        check(
            &[".github/ci.yml", "src/.x/gi.rs"],
            ".gi",
            &[".github/ci.yml", "src/.x/gi.rs"],
        );
    }

    #[test]
    fn without_letters_the_files_of_the_folder_itself_come_first() {
        check(
            &["b/c", "a/b", "z.rs", "A.md", ".hidden"],
            "",
            &["A.md", "z.rs", "a/b", "b/c", ".hidden"],
        );
    }

    #[test]
    fn many_matches_are_counted() {
        let names: Vec<FileName> = (0..500)
            .map(|number| FileName::new(format!("dir/{number:03}.rs")))
            .collect();
        let (found, count) = ranked(&names, "rs", 3);
        assert_eq!((found, count), (vec!["dir/000.rs", "dir/001.rs", "dir/002.rs"], 500));
        assert!(contains(&names, "dir/007.rs") && !contains(&names, "dir/7.rs"));
    }
}
