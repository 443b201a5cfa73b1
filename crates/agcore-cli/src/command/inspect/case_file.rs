//! [`CaseFile`]: a case and the bytes of its body.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use agcore::llm::wire_case::WireCase;

/// A case as it stands in files.
#[derive(Debug)]
pub(super) struct CaseFile {
    pub(super) case: WireCase,
    pub(super) body: Vec<u8>,
}

impl CaseFile {
    /// Reads a case, and the file beside it that holds the body, if one does.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let json = fs::read(path).map_err(|error| error.to_string())?;
        let case = WireCase::read(&json).map_err(|error| error.to_string())?;
        let body = match case.body_file() {
            None => case.body.clone().into_bytes(),
            Some(name) => {
                let file =
                    beside(path, name).ok_or_else(|| format!("the body `{name}` is no name of a file beside it"))?;
                fs::read(file).map_err(|error| format!("the body `{name}`: {error}"))?
            }
        };
        Ok(Self { case, body })
    }
}

/// A file in the same folder: a case from elsewhere must not name any other file of this machine.
fn beside(path: &Path, name: &str) -> Option<PathBuf> {
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
    fn a_body_lies_beside_its_case() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(
                beside(Path::new("cases/a.json"), name),
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
