//! [`CaseFile`]: a wire case and the bytes of its body.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use agcore::llm::wire::wire_case::WireCase;

/// A case that was read from files.
#[derive(Debug)]
pub(super) struct CaseFile {
    pub(super) case: WireCase,
    pub(super) body: Vec<u8>,
}

impl CaseFile {
    /// Reads a case and, if it names one, the file that contains the body.
    ///
    /// # Errors
    /// When a file cannot be read or the case is invalid.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let json = fs::read(path).map_err(|error| error.to_string())?;
        let case = WireCase::parse(&json).map_err(|error| error.to_string())?;
        let body = match case.body_file() {
            None => case.body.clone().into_bytes(),
            Some(name) => {
                let file = sibling(path, name)
                    .ok_or_else(|| format!("the body `{name}` must be a file in the same directory as the case"))?;
                fs::read(file).map_err(|error| format!("cannot read the body `{name}`: {error}"))?
            }
        };
        Ok(Self { case, body })
    }
}

/// Returns the path of a file in the same directory. A case from elsewhere must not be able to read any other file.
fn sibling(path: &Path, name: &str) -> Option<PathBuf> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None) => Some(path.with_file_name(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_must_be_in_the_same_directory() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(
                sibling(Path::new("cases/a.json"), name),
                expected.map(PathBuf::from),
                "{name}"
            );
        };
        check("a.body", Some("cases/a.body"));
        for name in ["", ".", "..", "/etc/passwd", "../a.body", "b/a.body"] {
            check(name, None);
        }
    }
}
