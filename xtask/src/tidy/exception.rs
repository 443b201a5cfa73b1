//! Exceptions to a limit: each has a reason and is needed.

use crate::report::finding::Finding;

/// An entry of a list of exceptions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exception {
    /// The excepted file or folder (which ends in `/`), or a function as `path:name`.
    pub(super) subject: &'static str,
    pub(super) reason: &'static str,
}

/// A list of exceptions, with the file that contains it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exceptions<'a> {
    pub(super) list: &'a [Exception],
    pub(super) file: &'static str,
}

impl Exceptions<'_> {
    /// Removes the violations that are excepted and adds a finding for each exception without a reason or a need. An
    /// exception is needed if it covers a violation; one whose subject is not part of the tree is not judged.
    pub(super) fn apply(self, violations: Vec<(String, Finding)>, is_present: impl Fn(&str) -> bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        for exception in self.list {
            let is_needed = violations.iter().any(|(subject, _)| exception.covers(subject));
            if !is_needed && is_present(exception.subject) {
                findings.push(self.finding(exception, "is not needed", "remove it from the list"));
            }
            if exception.reason.trim().is_empty() {
                findings.push(self.finding(exception, "has no reason", "add one"));
            }
        }
        let is_excepted = |subject: &str| self.list.iter().any(|exception| exception.covers(subject));
        findings.extend(
            violations
                .into_iter()
                .filter(|(subject, _)| !is_excepted(subject))
                .map(|(_, finding)| finding),
        );
        findings
    }

    fn finding(self, exception: &Exception, problem: &str, remedy: &str) -> Finding {
        Finding::new(
            self.file,
            format!("the exception for {} {problem}", exception.subject),
            remedy,
        )
    }
}

impl Exception {
    fn covers(&self, subject: &str) -> bool {
        if self.subject.ends_with('/') {
            subject.starts_with(self.subject)
        } else {
            subject == self.subject
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &[Exception], subjects: &[&str], expected: &[&str]) {
        let violations = subjects.iter().map(|&subject| {
            let finding = Finding::new(subject, "too long", "shorten it");
            (subject.to_owned(), finding)
        });
        let exceptions = Exceptions { list, file: "list.rs" };
        let found = exceptions.apply(violations.collect(), |subject| subject != "absent.rs");
        let found: Vec<String> = found.iter().map(Finding::to_string).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, expected) in found.iter().zip(expected) {
            assert!(finding.contains(expected), "{finding}");
        }
    }

    fn exception(subject: &'static str, reason: &'static str) -> Exception {
        Exception { subject, reason }
    }

    #[test]
    fn an_exception_covers_a_file_or_a_folder() {
        check(&[], &["a.rs"], &["a.rs: too long"]);
        check(&[exception("a.rs", "a table")], &["a.rs", "b.rs"], &["b.rs: too long"]);
        check(&[exception("a/", "tables")], &["a/b.rs", "ab.rs"], &["ab.rs: too long"]);
    }

    #[test]
    fn an_exception_has_a_reason_and_a_need() {
        check(
            &[exception("a.rs", " ")],
            &["a.rs"],
            &["the exception for a.rs has no reason"],
        );
        check(
            &[exception("a.rs", "a table")],
            &[],
            &["the exception for a.rs is not needed"],
        );
        check(&[exception("absent.rs", "a table")], &[], &[]);
    }
}
