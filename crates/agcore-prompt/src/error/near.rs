//! Names that look like the one that was not found.

/// How many names are suggested at most.
const MOST: usize = 3;

/// Bytes of the longest name for which others are suggested; nobody mistypes a longer one.
const LONGEST: usize = 64;

/// The known names that look like `wanted`, the nearest first.
///
/// A name looks alike when at most a third of its characters (and at least one) were mistyped, or when only the
/// case differs.
pub(crate) fn near_names(wanted: &str, known: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    let folded = wanted.to_lowercase();
    let allowed = (folded.chars().count() / 3).max(1);
    let mut found: Vec<(usize, String)> = Vec::new();
    for name in known {
        let name = name.as_ref();
        // Lengths tell most strangers apart without the full comparison.
        if name.len().abs_diff(wanted.len()) > allowed * char::MAX.len_utf8() {
            continue;
        }
        let distance = strsim::osa_distance(&folded, &name.to_lowercase());
        if distance <= allowed && distance < name.chars().count() {
            found.push((distance, name.to_owned()));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(MOST).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::near_names;

    #[track_caller]
    fn check(wanted: &str, expected: &[&str]) {
        assert_eq!(
            near_names(wanted, ["name", "names", "user", "title", "姓名", "x", "user"]),
            expected,
            "{wanted}"
        );
    }

    #[test]
    fn suggests_what_looks_alike() {
        check("nmae", &["name"]);
        check("NAME", &["name", "names"]);
        check("users", &["user"]);
        check("姓", &["姓名"]);
        check("y", &[]);
        check("completely", &[]);
        check("", &[]);
    }

    #[test]
    fn suggests_few() {
        assert_eq!(near_names("abcd", ["abce", "abcf", "abcg", "abch"]).len(), 3);
    }
}
