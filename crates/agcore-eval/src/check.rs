//! [`check`]: compares the actions of an agent with the expectations.

mod list;
mod value;
mod answer;
mod calls;
mod limits;

pub use self::list::Check;

use self::list::Checks;
use crate::{expect::Expect, observation::Observation};

/// Compares the actions of an agent with the expectations, except for judgements. Every expectation is one check.
pub fn check(expect: &Expect, seen: &Observation) -> Vec<Check> {
    let mut checks = Checks::default();
    checks.add("status", status_problem(expect, seen));
    answer::check(expect, seen, &mut checks);
    calls::check(&expect.tools, &seen.calls, &mut checks);
    limits::check(expect, seen, &mut checks);
    checks.into_list()
}

fn status_problem(expect: &Expect, seen: &Observation) -> Option<String> {
    let (expected, status) = (expect.status.as_str(), seen.status.as_str());
    (expect.status != seen.status).then(|| match &seen.problem {
        Some(problem) => format!("expected a turn that is {expected}, but it is {status}: {problem}"),
        None => format!("expected a turn that is {expected}, but it is {status}"),
    })
}
