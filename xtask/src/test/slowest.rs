//! The tests that took longest, read from the lines of nextest.

use std::fmt::Write as _;

/// The number of tests that are listed.
const LISTED: usize = 10;

/// Returns a list of the slowest tests with their seconds, or `None` if no line has a time.
pub(super) fn list(output: &str) -> Option<String> {
    let mut tests: Vec<(f64, &str)> = output.lines().filter_map(test).collect();
    tests.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    tests.truncate(LISTED);
    let mut text = String::new();
    for (seconds, name) in &tests {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n{seconds:>9.1} s  {name}");
    }
    (!text.is_empty()).then(|| format!("slowest tests:{text}"))
}

/// Reads `PASS [   0.055s] (12/90) package::binary module::name`.
fn test(line: &str) -> Option<(f64, &str)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let (seconds, name) = rest.split_once("s] ")?;
    let is_result = matches!(status.trim(), "PASS" | "FAIL" | "LEAK" | "TIMEOUT" | "FLAKY");
    let name = match name.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((_, name)) => name,
        None => name,
    };
    let seconds = seconds.trim().parse().ok().filter(|_| is_result)?;
    Some((seconds, name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_the_slowest_first() {
        let output = "   Compiling a v0.1.0\n        PASS [   0.055s] (1/3) a::it fast\n        \
                      FAIL [  12.300s] (2/3) a::it slow\n        SLOW [> 60.000s] (─────) a::it slow\n        \
                      PASS [   1.500s] a::it older_format\n     Summary [  12.400s] 3 tests run: 2 passed, 1 failed\n";
        let expected =
            "slowest tests:\n     12.3 s  a::it slow\n      1.5 s  a::it older_format\n      0.1 s  a::it fast";
        assert_eq!(list(output).as_deref(), Some(expected));
    }

    #[test]
    fn lists_ten_and_nothing_without_times() {
        let lines: String = (0..30).map(|n| format!("PASS [ {n}.000s] t{n}\n")).collect();
        let listed = list(&lines).unwrap_or_default();
        assert_eq!(listed.lines().count(), 1 + LISTED);
        assert!(listed.ends_with("20.0 s  t20"), "{listed}");
        assert_eq!(list("test result: ok. 1 passed; 0 failed\n"), None);
    }
}
