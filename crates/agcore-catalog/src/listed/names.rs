//! The names under which servers return a model.

/// Returns the names that stand for a name: itself, and without what a server puts before it.
///
/// Gemini returns `models/NAME`, Vertex AI `publishers/PUBLISHER/models/NAME`, and fine-tuned models of OpenAI are called
/// `ft:BASE:ORGANIZATION:NAME:ID`.
pub(super) fn spellings(name: &str) -> impl Iterator<Item = &str> {
    let name = name.trim();
    let path = name.rsplit_once("models/").map(|(_, rest)| rest);
    let tuned = name.starts_with("ft:").then(|| {
        let end = name.match_indices(':').nth(1).map_or(name.len(), |(end, _)| end);
        &name[..end]
    });
    [Some(name), path, tuned].into_iter().flatten()
}

/// Returns the name without the day of its version, such as `-2024-08-06`, `-20250929` or `@20250929`.
pub(super) fn undated(name: &str) -> Option<&str> {
    let ends_with_day = |length: usize, dashes: &[usize]| {
        let at = name.len().checked_sub(length)?;
        let day = name.get(at..)?.as_bytes();
        let separates = matches!(day[0], b'-' | b'@') && dashes.iter().all(|dash| day[*dash] == b'-');
        let mut digits = day
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(index, _)| !dashes.contains(index));
        let year = name.get(at + 1..at + 5)?.parse::<u32>().ok()?;
        let is_day = separates && digits.all(|(_, byte)| byte.is_ascii_digit()) && (2020..2100).contains(&year);
        (is_day && at > 0).then(|| &name[..at])
    };
    ends_with_day(11, &[5, 8]).or_else(|| ends_with_day(9, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_servers_put_before_names() {
        let check = |name, expected: &[&str]| assert_eq!(spellings(name).collect::<Vec<_>>(), expected);
        check("gpt-4o", &["gpt-4o"]);
        check("models/gemini-2.5-pro", &["models/gemini-2.5-pro", "gemini-2.5-pro"]);
        check(
            "publishers/google/models/gemini-2.5-pro",
            &["publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"],
        );
        check(
            "ft:gpt-4o-2024-08-06:acme::1",
            &["ft:gpt-4o-2024-08-06:acme::1", "ft:gpt-4o-2024-08-06"],
        );
        check("ft:gpt-4o", &["ft:gpt-4o", "ft:gpt-4o"]);
    }

    #[test]
    fn only_whole_days_are_removed() {
        for (name, expected) in [
            ("gpt-4o-2024-08-06", Some("gpt-4o")),
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("claude-sonnet-4-5@20250929", Some("claude-sonnet-4-5")),
            ("gpt-4o", None),
            ("gpt-4o-2024-08", None),
            ("mistral-large-2411", None),
            ("model-12345678", None),
            ("-20250929", None),
            ("2024-08-06", None),
            ("é-2024-08-06", Some("é")),
            ("ééééééééé", None),
            ("", None),
        ] {
            assert_eq!(undated(name), expected, "{name}");
        }
    }
}
