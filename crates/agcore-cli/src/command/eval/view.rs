//! A report as text for people.

use agcore::{
    chat::Money,
    eval::{CaseResult, Report},
};
use agcore_terminal::{
    render::{sanitized, sanitized_line},
    table::table,
};

/// Formats a report: a line for each run, followed by its problems.
pub(super) fn view(report: &Report) -> String {
    let rows: Vec<[String; 6]> = report.results.iter().map(row).collect();
    let mut text = String::new();
    for (line, result) in table(&rows).lines().zip(&report.results) {
        text += &format!("{line}\n");
        for (check, problem) in result.problems() {
            text += &format!(
                "    {check}: {}\n",
                sanitized(problem).trim_end().replace('\n', "\n    ")
            );
        }
    }
    text + &format!("\n{} of {} runs passed\n", report.passed(), report.results.len())
}

fn row(result: &CaseResult) -> [String; 6] {
    let sign = match (&result.error, result.is_passed()) {
        (_, true) => "✓",
        (Some(_), false) => "!",
        (None, false) => "✗",
    };
    let amounts: Vec<String> = result.costs.iter().map(Money::to_string).collect();
    [
        sign.to_owned(),
        sanitized_line(&result.title()),
        match result.steps {
            1 => "1 step".to_owned(),
            steps => format!("{steps} steps"),
        },
        result
            .tokens
            .map_or_else(|| "? tokens".to_owned(), |tokens| format!("{tokens} tokens")),
        amounts.join(" + "),
        format!("{}.{} s", result.duration_ms / 1_000, result.duration_ms % 1_000 / 100),
    ]
}

#[cfg(test)]
mod tests {
    use agcore::eval::Check;

    use super::*;

    #[test]
    fn a_problem_is_below_its_run_and_cannot_control_the_terminal() {
        let mut result = CaseResult::default();
        (result.case, result.run, result.duration_ms) = ("a\u{1b}[2J".to_owned(), 2, 1_250);
        result.checks = vec![Check::failed("answer.equals", "two\nlines\u{1b}]0;x")];
        let text = view(&Report::new("s", [result]));
        assert!(!text.contains('\u{1b}'), "{text:?}");
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with('✗') && lines[0].ends_with("0 steps  ? tokens    1.2 s"),
            "{text}"
        );
        assert_eq!(lines[1], "    answer.equals: two");
        assert_eq!(lines.last(), Some(&"0 of 1 runs passed"));
    }
}
