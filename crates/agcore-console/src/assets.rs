//! The files of the pages: styles and scripts, under names that change with their contents.

use std::sync::LazyLock;

/// A file of the pages.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// The name under which it is served, which contains a hash of the content: it never has another content, so that browsers
    /// can keep it for ever.
    pub name: &'static str,
    /// The type of the content.
    pub content_type: &'static str,
    /// The content.
    pub content: &'static [u8],
}

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// The files by their plain names.
const FILES: &[(&str, &str, &[u8])] = &[
    ("console.css", CSS, include_bytes!("../assets/console.css")),
    ("live.js", JS, include_bytes!("../assets/live.js")),
    ("keys.js", JS, include_bytes!("../assets/keys.js")),
    ("copy.js", JS, include_bytes!("../assets/copy.js")),
    ("icon.svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
];

static ALL: LazyLock<Vec<(&'static str, Asset)>> = LazyLock::new(|| {
    let named = FILES.iter().map(|(plain, content_type, content)| {
        let (stem, extension) = plain.rsplit_once('.').unwrap_or((plain, ""));
        // The names are made once, and used until the process ends.
        let name: &'static str = Box::leak(format!("{stem}.{:016x}.{extension}", hash(content)).into_boxed_str());
        let asset = Asset {
            name,
            content_type,
            content,
        };
        (*plain, asset)
    });
    named.collect()
});

/// Returns the file that is served under a name.
///
/// ```
/// assert!(agcore_console::asset("console.css").is_none());
/// let page = agcore_console::problem_page(&Default::default(), agcore_console::Problem::NotFound);
/// let name = page.split("/console/assets/").nth(1).unwrap().split('"').next().unwrap();
/// assert!(agcore_console::asset(name).is_some());
/// ```
pub fn asset(name: &str) -> Option<Asset> {
    ALL.iter().map(|(_, asset)| *asset).find(|asset| asset.name == name)
}

/// Returns the address of a file by its plain name.
pub(crate) fn address(plain: &str) -> String {
    let found = ALL.iter().find(|(known, _)| *known == plain);
    format!("/console/assets/{}", found.map_or("", |(_, asset)| asset.name))
}

/// Returns the FNV-1a hash of a content. It distinguishes versions of our own files and protects nothing.
fn hash(content: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    content.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_in_the_list_and_no_other() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        #[expect(clippy::disallowed_methods, reason = "the test compares the list with the folder")]
        let entries = std::fs::read_dir(folder).unwrap();
        let found: BTreeSet<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let listed: BTreeSet<String> = FILES.iter().map(|(name, _, _)| (*name).to_owned()).collect();
        assert_eq!(found, listed);
    }

    #[test]
    fn names_change_with_the_content() {
        assert_ne!(hash(b"a"), hash(b"b"));
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        for (plain, known) in ALL.iter() {
            assert!(address(plain).ends_with(known.name));
            assert_eq!(asset(known.name).unwrap().content, known.content);
        }
        assert!(asset("").is_none() && asset("../lib.rs").is_none());
    }

    #[test]
    fn the_scripts_are_small() {
        let scripts = FILES.iter().filter(|(_, kind, _)| *kind == JS);
        let (bytes, lines) = scripts.fold((0, 0), |(bytes, lines), (_, _, content)| {
            let text = std::str::from_utf8(content).unwrap();
            (bytes + content.len(), lines + text.lines().count())
        });
        assert!(bytes <= 60 * 1024 && lines <= 1500, "{bytes} bytes, {lines} lines");
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        for (name, _, content) in FILES {
            let text = std::str::from_utf8(content)
                .unwrap()
                .replace("http://www.w3.org/2000/svg", "");
            for forbidden in [
                "http://",
                "https://",
                "@import",
                "url(",
                "eval(",
                "import ",
                "document.write",
            ] {
                assert!(!text.contains(forbidden), "{name}: {forbidden}");
            }
        }
    }
}
