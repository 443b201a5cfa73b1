//! Checks of the clock, the terminal and the locale.

use std::{
    io::{self, IsTerminal},
    time::{Duration, SystemTime},
};

use agcore::{
    chat::{Clock, Timestamp},
    llm::SystemClock,
};
use agcore_terminal::{process::variable, render::Color};
use terminal_size::{Height, Width, terminal_size};

use super::check::Check;
use crate::exit::Failure;

/// The years 2025 to 2100, in seconds since 1970. Outside this range, TLS certificates appear to be invalid.
const PLAUSIBLE_TIMES: std::ops::Range<u64> = 1_735_689_600..4_102_444_800;

/// Runs the checks of the system.
pub(super) fn checks(color: Color) -> Vec<Check> {
    let mut checks = vec![clock(SystemClock::new().now()), terminal(color)];
    if io::stdout().is_terminal() && cfg!(unix) {
        checks.push(locale(variable));
    }
    checks
}

fn clock(now: SystemTime) -> Check {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    if PLAUSIBLE_TIMES.contains(&since.as_secs()) {
        Check::ok(
            "clock",
            format!("the time is {}", Timestamp::from(now).to_text_in_seconds()),
        )
    } else {
        let message = format!(
            "the clock is wrong: it shows {}\nSet the clock; secure connections fail if it is wrong.",
            Timestamp::from(now).to_text_in_seconds()
        );
        Check::fail("clock", &Failure::task(message))
    }
}

fn terminal(color: Color) -> Check {
    if !io::stdout().is_terminal() {
        return Check::ok("terminal", "stdout is not a terminal; using plain text");
    }
    let size = terminal_size().map(|(Width(columns), Height(rows))| format!("{columns} × {rows}"));
    let colors = match color.disabled_by() {
        None => "with colors".to_owned(),
        Some(reason) => format!("without colors ({reason})"),
    };
    let input = if io::stdin().is_terminal() {
        ""
    } else {
        "; stdin is not a terminal"
    };
    Check::ok(
        "terminal",
        format!("{}, {colors}{input}", size.unwrap_or_else(|| "unknown size".to_owned())),
    )
}

/// Checks that the locale is UTF-8. The first variable that is set decides: POSIX, Base Definitions, 8.2.
fn locale(variable: impl Fn(&str) -> Option<String>) -> Check {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(|value| (*name, value))
    });
    let advice = "Set LANG=C.UTF-8, or another locale whose name ends in UTF-8.";
    match locale {
        Some((name, value)) if value.to_lowercase().replace('-', "").contains("utf8") => {
            Check::ok("locale", format!("{name}={value}"))
        }
        Some((name, value)) => Check::warn("locale", format!("{name}={value} is not UTF-8"), advice),
        None => Check::warn(
            "locale",
            "not set; non-ASCII characters may be displayed incorrectly",
            advice,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::check::Status, *};

    #[test]
    fn an_implausible_clock_fails() {
        let check = |seconds, expected| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(clock(now).status, expected, "{seconds}");
        };
        check(0, Status::Fail);
        check(1_800_000_000, Status::Ok);
        check(9_000_000_000, Status::Fail);
    }

    #[test]
    fn the_first_variable_decides_the_locale() {
        let check = |variables: &[(&str, &str)], expected| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(locale(variable).status, expected, "{variables:?}");
        };
        check(&[("LANG", "de_DE.UTF-8")], Status::Ok);
        check(&[("LANG", "C.utf8"), ("LC_ALL", "")], Status::Ok);
        check(&[("LANG", "C.UTF-8"), ("LC_ALL", "C")], Status::Warn);
        check(&[], Status::Warn);
    }
}
