//! Reports: JSON, JUnit XML, and the difference between two.

use agcore_eval::{CaseResult, Change, Check, Report};

fn result(case: &str, run: u32, problem: Option<&str>) -> CaseResult {
    let mut result = CaseResult::default();
    (result.case, result.run) = (case.to_owned(), run);
    result.checks.push(match problem {
        Some(problem) => Check::failed("answer", problem),
        None => Check::passed("answer"),
    });
    (result.steps, result.tokens, result.duration_ms) = (2, Some(10), 1_500);
    result
}

#[test]
fn json_is_read_as_it_was_written() {
    let mut broken = result("b", 1, Some("wrong"));
    broken.error = Some("no model".to_owned());
    let report = Report::new("s", [result("a", 1, None), result("a", 2, Some("wrong")), broken]);
    assert_eq!((report.passed(), report.failed(), report.is_success()), (1, 2, false));
    assert_eq!(Report::from_json(&report.to_json()).unwrap(), report);
    let check = |text: &str, expected: &str| {
        let error = Report::from_json(text).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check("[]", "this is not a report of an evaluation");
    check(
        &report.to_json().replace("\"version\": 1", "\"version\": 9"),
        "the report has version 9",
    );
    // Nothing was evaluated, so nothing succeeded.
    assert!(!Report::new("s", []).is_success());
}

#[test]
fn differences_between_two_reports() {
    let before = Report::new(
        "s",
        [
            result("worse", 1, None),
            result("worse", 2, None),
            result("better", 1, Some("wrong")),
            result("same", 1, None),
            result("gone", 1, None),
        ],
    );
    let mut unknown = result("same", 1, None);
    unknown.tokens = None;
    let after = Report::new(
        "s",
        [
            result("worse", 1, None),
            result("worse", 2, Some("too short")),
            result("better", 1, None),
            unknown,
            result("new", 1, None),
        ],
    );
    let diff = before.diff(&after);
    let changes: Vec<(&str, Change)> = diff
        .cases
        .iter()
        .map(|case| (case.case.as_str(), case.change))
        .collect();
    assert_eq!(
        changes,
        [
            ("worse", Change::Regressed),
            ("better", Change::Improved),
            ("same", Change::Same),
            ("new", Change::Added),
            ("gone", Change::Removed),
        ]
    );
    let worse = &diff.cases[0];
    assert_eq!((worse.before, worse.after, worse.steps), ((2, 2), (1, 2), (4, 4)));
    assert_eq!(worse.tokens, Some((20, 20)));
    assert_eq!(worse.problem.as_deref(), Some("answer: too short"));
    assert_eq!(diff.cases[2].tokens, None);
    assert!(diff.has_regressions());
    assert!(!before.diff(&before).has_regressions());
    // More runs with the same rate are not a change. A new case that fails is a regression.
    let twice = Report::new("s", [result("same", 1, None), result("same", 2, None)]);
    let once = Report::new("s", [result("same", 1, None)]);
    assert_eq!(once.diff(&twice).cases[0].change, Change::Same);
    let failing = Report::new("s", [result("same", 1, None), result("new", 1, Some("wrong"))]);
    assert!(once.diff(&failing).has_regressions());
}

#[cfg(feature = "junit")]
#[test]
fn junit_is_escaped_and_distinguishes_errors_from_failures() {
    let mut broken = result("b", 1, None);
    broken.error = Some("no model".to_owned());
    let report = Report::new(
        "s & t",
        [
            result("a", 1, None),
            result("a", 2, Some("expected \"<x>\"\u{1}")),
            broken,
        ],
    );
    let xml = report.to_junit().unwrap();
    for part in [
        r#"<testsuites name="s &amp; t" tests="3" skipped="0" failures="1" errors="1""#,
        r#"<testcase name="a" classname="s &amp; t" time="1.500"/>"#,
        r#"<testcase name="a (2)""#,
        r#"<failure message="answer: expected &quot;&lt;x&gt;&quot;" type="answer">"#,
        r#"<error message="error: no model" type="error">"#,
    ] {
        assert!(xml.contains(part), "{part} is not in\n{xml}");
    }
}
