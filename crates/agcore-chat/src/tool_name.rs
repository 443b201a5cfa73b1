//! Names of tools: which names a tool may have, and the form of a name that every vendor accepts.
//!
//! The canonical name of a tool may contain dots and slashes (`fs.read`, `github/search`) and be up to
//! [`MAX_BYTES`] long. Vendors accept less: the [OpenAI API] takes `[a-zA-Z0-9_-]{1,64}`, and so do most servers that
//! are compatible with it. [`portable`] is the form that every one of them takes; the wires send it and map it back.
//!
//! [OpenAI API]: https://platform.openai.com/docs/api-reference/chat/create

use std::{borrow::Cow, fmt};

use crate::text::clip;

/// The longest canonical name, in bytes.
pub const MAX_BYTES: usize = 128;

/// The longest portable name, in bytes.
pub const MAX_PORTABLE_BYTES: usize = 64;

/// The length of the hash that ends a shortened name, with its separator.
const HASH_BYTES: usize = 9;

/// Checks that a tool may have this name: 1 to [`MAX_BYTES`] ASCII letters, digits, `_`, `-`, `.` or `/`.
///
/// ```
/// use agcore_chat::tool_name;
///
/// assert!(tool_name::check("fs.read").is_ok());
/// let error = tool_name::check("read file").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "a tool cannot be named `read file`: the character ' ' is not allowed; use letters, digits, `_`, `-`, `.` and `/`"
/// );
/// ```
///
/// # Errors
/// When the name is empty, too long, or contains another character.
pub fn check(name: &str) -> Result<(), ToolNameError> {
    let problem = if name.is_empty() {
        Problem::Empty
    } else if name.len() > MAX_BYTES {
        Problem::TooLong(name.len())
    } else if let Some(other) = name.chars().find(|c| !is_canonical(*c)) {
        Problem::Character(other)
    } else {
        return Ok(());
    };
    Err(ToolNameError {
        name: clip(name, MAX_BYTES).into_owned(),
        problem,
    })
}

/// Returns the form of a name that every vendor accepts. Names that are portable already are returned as they are.
///
/// Every other character becomes `_`. A name of more than [`MAX_PORTABLE_BYTES`] is cut, and ends in a hash of the
/// whole name. Different names can have the same portable form, such as `fs.read` and `fs_read`; a request cannot offer
/// both.
///
/// ```
/// use agcore_chat::tool_name::portable;
///
/// assert_eq!(portable("weather"), "weather");
/// assert_eq!(portable("fs.read"), "fs_read");
/// assert_eq!(portable(&"x".repeat(100)).len(), 64);
/// ```
pub fn portable(name: &str) -> Cow<'_, str> {
    if is_portable(name) {
        return Cow::Borrowed(name);
    }
    let mut portable: String = name.chars().map(|c| if is_everywhere(c) { c } else { '_' }).collect();
    if portable.len() > MAX_PORTABLE_BYTES {
        portable.truncate(MAX_PORTABLE_BYTES - HASH_BYTES);
        portable.push_str(&format!("_{:08x}", hash(name)));
    }
    Cow::Owned(portable)
}

/// Returns whether every vendor accepts the name as it is.
pub fn is_portable(name: &str) -> bool {
    name.len() <= MAX_PORTABLE_BYTES && name.bytes().all(|byte| PORTABLE[usize::from(byte)])
}

/// Whether a name may contain each byte. A table, because a request checks the names of all tools and calls.
const PORTABLE: [bool; 256] = {
    let (mut table, mut byte) = ([false; 256], 0_u8);
    while byte < 128 {
        table[byte as usize] = is_everywhere(byte as char);
        byte += 1;
    }
    table
};

const fn is_everywhere(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_canonical(c: char) -> bool {
    is_everywhere(c) || matches!(c, '.' | '/')
}

/// Returns the 32-bit FNV-1a hash: short, and the same in every version and on every machine.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// A name that a tool cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolNameError {
    name: String,
    problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Problem {
    Empty,
    TooLong(usize),
    Character(char),
}

impl ToolNameError {
    /// Returns the name, cut to [`MAX_BYTES`].
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for ToolNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.escape_debug();
        match self.problem {
            Problem::Empty => f.write_str("a tool cannot have an empty name"),
            Problem::TooLong(bytes) => write!(
                f,
                "a tool cannot be named `{name}`: the name has {bytes} bytes; at most {MAX_BYTES} are allowed"
            ),
            Problem::Character(c) => write!(
                f,
                "a tool cannot be named `{name}`: the character {c:?} is not allowed; use letters, digits, `_`, `-`, `.` and `/`"
            ),
        }
    }
}

impl std::error::Error for ToolNameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_canonical_names_only() {
        for name in ["a", "fs.read", "github/search-code_2", &"x".repeat(128)] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["", "naïve", "read file", "a\nb", "🙂", &"x".repeat(129)] {
            assert!(check(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn portable_names_are_accepted_everywhere() {
        let long = format!("{}.read", "server".repeat(20));
        for name in ["weather", "fs.read", "a/b.c", "naïve 🙂", &long, &"é".repeat(64)] {
            let portable = portable(name);
            assert!(is_portable(&portable) && !portable.is_empty(), "{name} -> {portable}");
            assert_eq!(super::portable(&portable), portable, "{name}");
        }
        let other = format!("{}.write", "server".repeat(20));
        assert_ne!(portable(&long), portable(&other));
    }
}
