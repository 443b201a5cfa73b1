//! The known name that a mistyped one may mean.

/// The known name most like this one, if one is like it: at most every third character was mistyped.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let allowed = (name.chars().count() / 3).max(1);
    let distances = known
        .into_iter()
        .map(|known| (strsim::osa_distance(name, known), known));
    distances
        .filter(|(distance, known)| *distance <= allowed && *distance < known.chars().count())
        .min()
        .map(|(_, known)| known)
}

/// `; did you mean ‘model’?`, where a known name is like this one.
pub(crate) fn meant(name: &str, known: impl IntoIterator<Item = &'static str>) -> String {
    nearest(name, known)
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_looks_alike() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(nearest(name, ["/model", "/cost", "/clear"]), expected, "{name}");
        };
        check("/modle", Some("/model"));
        check("/cots", Some("/cost"));
        check("/claer", Some("/clear"));
        check("/weather", None);
        check("", None);
        assert_eq!(meant("/cots", ["/cost"]), "; did you mean `/cost`?");
        assert_eq!(meant("x", ["/cost"]), "");
    }
}
