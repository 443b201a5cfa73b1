//! Feature sets of a package: what a selection of features actually turns on.

use std::collections::BTreeSet;

use crate::workspace::Package;

/// The feature that cargo turns on unless asked not to.
pub(crate) const DEFAULT: &str = "default";

/// Returns everything that the selected features turn on: features, optional dependencies (`dep:x`) and features of
/// dependencies (`x/y`).
///
/// `default` itself is left out, as it means nothing beyond the features it lists.
pub(crate) fn enabled<I>(package: &Package, selected: I) -> BTreeSet<String>
where
    I: IntoIterator<Item: AsRef<str>>,
{
    let selected = selected.into_iter();
    let mut waiting: Vec<String> = selected.map(|name| name.as_ref().to_owned()).collect();
    let mut enabled = BTreeSet::new();
    while let Some(feature) = waiting.pop() {
        if !enabled.insert(feature.clone()) {
            continue;
        }
        if let Some(implied) = package.features.get(&feature) {
            waiting.extend(implied.iter().cloned());
        }
    }
    enabled.remove(DEFAULT);
    enabled
}

/// Returns the names of all features of a package except `default`.
pub(crate) fn names(package: &Package) -> impl Iterator<Item = &str> {
    let names = package.features.keys().map(String::as_str);
    names.filter(|name| *name != DEFAULT)
}

/// Returns the features that turn on `unwanted` neither directly nor through what they imply.
pub(crate) fn all_without<'a>(package: &'a Package, unwanted: &str) -> Vec<&'a str> {
    names(package)
        .filter(|name| !enabled(package, [*name]).contains(unwanted))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> Package {
        let features = [
            ("default", vec!["chat"]),
            ("chat", vec![]),
            ("http", vec!["dep:reqwest"]),
            ("gzip", vec!["http", "reqwest?/gzip"]),
            ("full", vec!["chat", "gzip"]),
        ];
        let owned = |(name, implied): (&str, Vec<&str>)| {
            let implied = implied.into_iter().map(str::to_owned).collect();
            (name.to_owned(), implied)
        };
        Package {
            features: features.into_iter().map(owned).collect(),
            ..Package::default()
        }
    }

    #[track_caller]
    fn check(selected: &[&str], expected: &[&str]) {
        let enabled = enabled(&package(), selected);
        assert_eq!(enabled.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn follows_implied_features() {
        check(&[], &[]);
        check(&["default"], &["chat"]);
        check(&["gzip"], &["dep:reqwest", "gzip", "http", "reqwest?/gzip"]);
    }

    #[test]
    fn leaves_out_features_that_imply_the_unwanted_one() {
        assert_eq!(all_without(&package(), "http"), ["chat"]);
    }
}
