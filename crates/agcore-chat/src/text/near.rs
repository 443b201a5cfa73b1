//! Names as people write them: in any case, with or without dashes, misspelled.

use std::mem::swap;

/// Length in bytes of the longest name for which others are suggested: longer ones are not typing errors.
const MAX_NAME_BYTES: usize = 64;

/// Returns whether two names are equal apart from case, dashes, underscores, dots and spaces.
///
/// ```
/// use agcore_chat::text::is_same_name;
///
/// assert!(is_same_name("OpenAI Responses", "openai-responses"));
/// assert!(!is_same_name("openai", "openai-responses"));
/// ```
pub fn is_same_name(one: &str, other: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> {
        let letters = name.chars().filter(|c| !matches!(c, '-' | '_' | ' ' | '.'));
        letters.flat_map(char::to_lowercase)
    }
    letters(one).eq(letters(other))
}

/// Returns the known name that `name` was probably meant to be, if any is similar enough.
///
/// Same as the first of [`nearest_names`].
///
/// ```
/// use agcore_chat::text::nearest;
///
/// assert_eq!(nearest("opnai", ["anthropic", "openai"]), Some("openai"));
/// assert_eq!(nearest("weather", ["anthropic", "openai"]), None);
/// ```
pub fn nearest<N: AsRef<str>>(name: &str, known: impl IntoIterator<Item = N>) -> Option<N> {
    nearest_names(name, known, 1).pop()
}

/// Returns up to `limit` known names that `name` may have been meant to be, the most similar first.
///
/// Two names are similar if at most a third of the characters of `name` (and at least one) were mistyped. A missing, an
/// additional and a wrong character and a pair of swapped ones count as one mistake each; case does not matter. Equally
/// similar names come in alphabetical order. Nothing is suggested for a `name` of more than 64 bytes.
///
/// ```
/// use agcore_chat::text::nearest_names;
///
/// let known = ["name", "names", "user"];
/// assert_eq!(nearest_names("nmae", known, 3), ["name"]);
/// assert_eq!(nearest_names("NAME", known, 3), ["name", "names"]);
/// ```
pub fn nearest_names<N: AsRef<str>>(name: &str, known: impl IntoIterator<Item = N>, limit: usize) -> Vec<N> {
    if name.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let wanted = folded(name);
    let allowed = (wanted.len() / 3).max(1);
    let mut found: Vec<(usize, N)> = Vec::new();
    for candidate in known {
        let text = candidate.as_ref();
        // Rules out most names by their length, before the costly comparison.
        if text.len().abs_diff(name.len()) > allowed * char::MAX.len_utf8() {
            continue;
        }
        let distance = edit_distance(&wanted, &folded(text));
        if distance <= allowed && distance < text.chars().count() {
            found.push((distance, candidate));
        }
    }
    found.sort_by(|(a, one), (b, other)| (a, one.as_ref()).cmp(&(b, other.as_ref())));
    found.dedup_by(|(_, one), (_, other)| one.as_ref() == other.as_ref());
    found.into_iter().take(limit).map(|(_, name)| name).collect()
}

/// Returns what to append to the message about an unknown name: ``; did you mean `model`?`` if a known name resembles it, else an
/// empty string.
///
/// ```
/// use agcore_chat::text::suggestion;
///
/// assert_eq!(suggestion("modle", ["model", "cost"]), "; did you mean `model`?");
/// assert_eq!(suggestion("weather", ["model", "cost"]), "");
/// ```
pub fn suggestion(name: &str, known: impl IntoIterator<Item: AsRef<str>>) -> String {
    nearest(name, known)
        .map(|near| format!("; did you mean `{}`?", near.as_ref()))
        .unwrap_or_default()
}

/// Returns the names in quotation marks, as alternatives.
///
/// ```
/// use agcore_chat::text::alternatives;
///
/// assert_eq!(alternatives(&["refuse", "queue", "interrupt"]), "`refuse`, `queue` or `interrupt`");
/// ```
pub fn alternatives(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

fn folded(name: &str) -> Vec<char> {
    name.to_lowercase().chars().collect()
}

/// Returns the restricted Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions and
/// swaps of neighbours, where no part is edited twice.
fn edit_distance(from: &[char], to: &[char]) -> usize {
    // Three rows of the table: the last but one, the last, and the one being filled in.
    let mut before_last = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    let mut row = vec![0; to.len() + 1];
    for (i, a) in from.iter().enumerate() {
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let substituted = last[j] + usize::from(a != b);
            let mut cost = substituted.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row[j + 1] = cost;
        }
        swap(&mut before_last, &mut last);
        swap(&mut last, &mut row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_case_and_separators_in_names() {
        let check = |one: &str, other: &str, same: bool| assert_eq!(is_same_name(one, other), same, "{one} {other}");
        check("Together.AI", "together_ai", true);
        check("x ai", "xAI", true);
        check("", "-", true);
        check("xai", "xa", false);
    }

    #[test]
    fn suggests_the_most_similar_name() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(nearest(name, ["openai", "ollama", "x"]), expected, "{name}");
        };
        check("opnai", Some("openai"));
        check("OLLAMA", Some("ollama"));
        check("anthropic", None);
        check("y", None);
        check("", None);
        assert_eq!(nearest("/cots", ["/model", "/cost", "/clear"]), Some("/cost"));
        assert_eq!(nearest("/claer", ["/model", "/cost", "/clear"]), Some("/clear"));
    }

    #[test]
    fn suggests_similar_names_in_order_of_distance() {
        let check = |name: &str, expected: &[&str]| {
            let known = ["name", "names", "user", "title", "姓名", "x", "user"];
            assert_eq!(nearest_names(name, known, 3), expected, "{name}");
        };
        check("nmae", &["name"]);
        check("NAME", &["name", "names"]);
        check("users", &["user"]);
        check("姓", &["姓名"]);
        check("y", &[]);
        check("completely", &[]);
        check("", &[]);
    }

    #[test]
    fn limits_suggestions_and_the_length_of_names() {
        let known = ["abce", "abcf", "abcg", "abch"].map(String::from);
        assert_eq!(nearest_names("abcd", known, 3), ["abce", "abcf", "abcg"]);
        let long = "x".repeat(65);
        assert_eq!(nearest(&long, [&long]), None);
        assert_eq!(nearest(&long[1..], [&long]), Some(&long));
    }

    #[test]
    fn counts_edits() {
        let check = |from: &str, to: &str, expected: usize| {
            assert_eq!(edit_distance(&folded(from), &folded(to)), expected, "{from} {to}");
            assert_eq!(edit_distance(&folded(to), &folded(from)), expected, "{to} {from}");
        };
        check("", "", 0);
        check("abc", "", 3);
        check("abc", "abc", 0);
        check("abc", "abd", 1);
        check("abc", "acb", 1);
        check("abcd", "acdb", 2);
        check("kitten", "sitting", 3);
        // A swapped pair is not edited again, so this is not 2.
        check("ca", "abc", 3);
        check("damerau", "aderuam", 4);
    }
}
