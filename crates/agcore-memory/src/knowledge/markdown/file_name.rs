//! [`file_name`]: where a page is in a folder.

use std::fmt::Write;

/// The maximum length of a path within a folder, in bytes, without its extension.
const MAX_BYTES: usize = 200;

/// Names that Windows does not allow for files.
const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// Returns the path of the file of a page, relative to the folder and with `/` between its parts.
///
/// Ids such as `garden/tomatoes` become files in subfolders. Characters that are not safe in names of files on every system are
/// encoded, so that no id leads out of the folder. The paths of different ids may differ in upper and lower case only.
///
/// ```
/// use agcore_memory::knowledge::markdown::file_name;
///
/// assert_eq!(file_name("garden/tomatoes"), "garden/tomatoes.md");
/// assert_eq!(file_name("../a:b"), "%2E%2E/a%3Ab.md");
/// ```
pub fn file_name(id: &str) -> String {
    let parts: Vec<String> = id.split('/').map(encoded).collect();
    let path = parts.join("/");
    if path.len() > MAX_BYTES {
        return distinct_file_name(id);
    }
    path + ".md"
}

/// Returns a path that differs from that of any other id, also if upper and lower case are the same.
pub(super) fn distinct_file_name(id: &str) -> String {
    let mut path = encoded(&id.replace('/', "-"));
    let mut end = path.len().min(80);
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    path.truncate(end);
    format!("{path}~{:016x}.md", hash(id))
}

fn encoded(part: &str) -> String {
    if part.is_empty() {
        return "%-".to_owned();
    }
    let mut name = String::with_capacity(part.len());
    let last = part.chars().count() - 1;
    let stem = part.split('.').next().unwrap_or_default().to_lowercase();
    let is_reserved = RESERVED.iter().any(|reserved| {
        let rest = stem.strip_prefix(reserved);
        rest.is_some_and(|rest| rest.is_empty() || (rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit()))
    });
    // A folder must not have the name of a file.
    let is_file = part.to_lowercase().ends_with(".md");
    for (position, character) in part.chars().enumerate() {
        let is_safe = character.is_alphanumeric() || matches!(character, '-' | '_' | '+' | '=' | '@' | ',' | '(' | ')');
        let is_inner = matches!(character, ' ' | '.') && position > 0 && position < last;
        let is_kept = (is_safe || is_inner) && !(position == 0 && is_reserved) && !(is_file && character == '.');
        if is_kept {
            name.push(character);
        } else {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(name, "%{byte:02X}");
            }
        }
    }
    name
}

/// Returns the FNV-1a hash of a text.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_on_every_system() {
        for (id, expected) in [
            ("a", "a.md"),
            ("日本/v1.2 (new)", "日本/v1.2 (new).md"),
            ("/etc/passwd", "%-/etc/passwd.md"),
            ("..", "%2E%2E.md"),
            ("a/../b", "a/%2E%2E/b.md"),
            (".git/config", "%2Egit/config.md"),
            ("a.md/b", "a%2Emd/b.md"),
            ("con", "%63on.md"),
            ("lpt1.txt", "%6Cpt1.txt.md"),
            ("console", "console.md"),
            ("a. /b ", "a.%20/b%20.md"),
            ("a\\b\n%", "a%5Cb%0A%25.md"),
        ] {
            assert_eq!(file_name(id), expected);
        }
    }

    #[test]
    fn long_ids_have_short_names_that_differ() {
        let [one, other] = ["1", "2"].map(|end| file_name(&("é".repeat(400) + end)));
        assert!(one.len() < 120 && one.ends_with(".md"), "{one}");
        assert_ne!(one, other);
        assert_ne!(distinct_file_name("a"), distinct_file_name("A"));
    }
}
