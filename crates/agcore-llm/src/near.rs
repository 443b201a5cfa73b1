//! Names as people write them: in any case, with or without dashes, mistyped.

/// Whether two names differ by no more than case, dashes, dots and blanks.
#[cfg(any(
    feature = "openai-chat",
    all(
        feature = "http",
        any(feature = "anthropic", feature = "openai-responses", feature = "ollama")
    )
))]
pub(crate) fn is_same_name(one: &str, other: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> {
        let letters = name.chars().filter(|c| !matches!(c, '-' | '_' | ' ' | '.'));
        letters.flat_map(char::to_lowercase)
    }
    letters(one).eq(letters(other))
}

/// The known name most like this one, if any is like it: at most every third character was mistyped.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.to_lowercase();
    let allowed = (name.chars().count() / 3).max(1);
    let near = known
        .into_iter()
        .map(|known| (strsim::osa_distance(&name, &known.to_lowercase()), known));
    near.filter(|(distance, known)| *distance <= allowed && *distance < known.chars().count())
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggests_what_looks_alike() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(nearest(name, ["openai", "ollama", "x"]), expected, "{name}");
        };
        check("opnai", Some("openai"));
        check("OLLAMA", Some("ollama"));
        check("anthropic", None);
        check("y", None);
        check("", None);
    }
}
