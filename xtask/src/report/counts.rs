//! Counts of tests, parsed from the closing lines of the test runners.

use std::ops::AddAssign;

/// The number of tests by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// Sums the `test result:` lines that `cargo test` prints, one per test binary.
pub(crate) fn from_cargo_test(output: &str) -> Counts {
    let mut sum = Counts::default();
    for line in output.lines() {
        // `test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; …`
        let Some(rest) = line.strip_prefix("test result: ") else {
            continue;
        };
        let Some((_, list)) = rest.split_once(". ") else {
            continue;
        };
        sum += parse_list(list.split(';'));
    }
    sum
}

/// Parses the closing `Summary` line of `cargo nextest run`.
pub(crate) fn from_nextest(output: &str) -> Counts {
    let mut sum = Counts::default();
    for line in output.lines() {
        // `Summary [   0.055s] 4 tests run: 3 passed (1 slow), 1 failed, 2 skipped`
        let line = line.trim_start();
        if !line.starts_with("Summary [") {
            continue;
        }
        if let Some((_, list)) = line.split_once(" run: ") {
            sum += parse_list(without_parentheses(list).split(','));
        }
    }
    sum
}

fn parse_list(entries: impl Iterator<Item: AsRef<str>>) -> Counts {
    let mut counts = Counts::default();
    for entry in entries {
        let Some((number, word)) = entry.as_ref().trim().split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse::<u64>() else {
            continue;
        };
        match word.trim() {
            "passed" => counts.passed += number,
            "failed" | "timed out" | "exec failed" => counts.failed += number,
            "ignored" | "skipped" => counts.skipped += number,
            _ => {}
        }
    }
    counts
}

/// Removes the parentheses in which nextest explains a number, as they may contain a comma.
fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(actual: Counts, passed: u64, failed: u64, skipped: u64) {
        let expected = Counts {
            passed,
            failed,
            skipped,
        };
        assert_eq!(actual, expected);
    }

    #[test]
    fn sums_the_lines_of_cargo_test_over_binaries() {
        let output = "\
running 3 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 5 filtered out; finished in 0.01s
     Running tests/it/main.rs
test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.2s
";
        check(from_cargo_test(output), 10, 2, 1);
    }

    #[test]
    fn ignores_a_test_name_that_looks_like_a_count() {
        check(from_cargo_test("test passed_5 ... ok\n5 passed; 1 failed\n"), 0, 0, 0);
    }

    #[test]
    fn parses_the_summary_of_nextest() {
        let output =
            "     Summary [   0.055s] 5 tests run: 3 passed (1 slow, 1 leaky), 1 failed, 1 timed out, 2 skipped\n";
        check(from_nextest(output), 3, 2, 2);
    }

    #[test]
    fn parses_the_summary_of_an_interrupted_nextest_run() {
        check(
            from_nextest("  Summary [ 1.0s] 2/9 tests run: 1 passed, 1 failed, 0 skipped"),
            1,
            1,
            0,
        );
        check(
            from_nextest("  Summary [ 1.0s] 1 test run: 1 passed, 0 skipped"),
            1,
            0,
            0,
        );
    }
}
