//! The root of a module stands beside its folder: `foo.rs` and `foo/`.

use crate::finding::Finding;
use crate::sources::Sources;

/// Looks for the other way of doing it, in tests too.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let roots = sources.iter().filter(|file| file.path.ends_with("/mod.rs"));
    let finding = |path: &str| {
        let folder = path.trim_end_matches("/mod.rs");
        Finding::new(path, "a module root inside its folder", format!("call it {folder}.rs"))
    };
    roots.map(|file| finding(&file.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_inside_its_folder_is_found() {
        let sources = Sources::from([("crates/a/src/wire/mod.rs", ""), ("crates/a/src/mod_name.rs", "")]);
        let found = findings(&sources);
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().contains("call it crates/a/src/wire.rs"));
    }
}
