//! The summary at the end of a run: minutes per stage, and the last line.

use std::fmt::Write as _;
use std::time::Duration;

use crate::report::Report;
use crate::report::counts::Counts;

/// One stage after it ran.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) stage: &'static str,
    pub(crate) time: Duration,
    pub(crate) report: Report,
}

/// Returns whether nothing failed.
pub(crate) fn is_green(lines: &[Line]) -> bool {
    total(lines).failed == 0
}

/// Renders the table of stages, the skipped and the failed checks, and as the last line `N passed, N failed`.
pub(crate) fn render(lines: &[Line]) -> String {
    let sum = total(lines);
    let time = lines.iter().map(|line| line.time).sum();
    let mut text = format!(
        "\n{:<10}{:>9}{:>9}{:>9}{:>9}\n",
        "stage", "minutes", "passed", "failed", "skipped"
    );
    for line in lines {
        push_row(&mut text, line.stage, line.time, line.report.counts());
    }
    push_row(&mut text, "total", time, sum);
    push_list(&mut text, "skipped", lines, Report::skips);
    push_list(&mut text, "failed", lines, Report::failures);
    // Writing to a String cannot fail.
    let _ = write!(text, "\n{} passed, {} failed", sum.passed, sum.failed);
    text
}

fn total(lines: &[Line]) -> Counts {
    let mut sum = Counts::default();
    for line in lines {
        sum += line.report.counts();
    }
    sum
}

fn push_row(text: &mut String, stage: &str, time: Duration, counts: Counts) {
    let minutes = time.as_secs_f64() / 60.0;
    let Counts {
        passed,
        failed,
        skipped,
    } = counts;
    let _ = writeln!(text, "{stage:<10}{minutes:>9.1}{passed:>9}{failed:>9}{skipped:>9}");
}

fn push_list(text: &mut String, title: &str, lines: &[Line], pick: fn(&Report) -> &[String]) {
    let entries: Vec<String> = lines
        .iter()
        .flat_map(|line| pick(&line.report).iter().map(|entry| format!("  {entry}\n")))
        .collect();
    if !entries.is_empty() {
        let _ = write!(text, "\n{title}:\n{}", entries.concat());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::check::Check;
    use crate::report::finding::Finding;

    fn line(stage: &'static str, checks: &[Check]) -> Line {
        let mut report = Report::new(stage);
        for check in checks {
            report.add(check);
        }
        Line {
            stage,
            time: Duration::from_secs(90),
            report,
        }
    }

    #[test]
    fn the_last_line_is_the_sum_of_all_stages() {
        let bad = Check::new("floors", vec![Finding::new("a", "b", "c")]);
        let lines = [
            line(
                "fmt",
                &[Check::new("fmt", Vec::new()), Check::skipped("deny", "no network")],
            ),
            line("graph", &[bad]),
        ];
        let text = render(&lines);
        assert_eq!(text.lines().last(), Some("1 passed, 1 failed"));
        assert!(
            text.contains("fmt             1.5        1        0        1\n"),
            "{text}"
        );
        assert!(
            text.contains("total           3.0        1        1        1\n"),
            "{text}"
        );
        assert!(text.contains("failed:\n  graph floors\n"), "{text}");
        assert!(text.contains("skipped:\n  fmt deny: no network\n"), "{text}");
        assert!(!is_green(&lines));
    }

    #[test]
    fn skipped_checks_do_not_fail_a_run() {
        assert!(is_green(&[line("deny", &[Check::skipped("bans", "no network")])]));
    }
}
