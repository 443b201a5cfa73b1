//! Checks of the calls of tools.

use super::{
    list::Checks,
    value::{is_same, shown_value},
};
use crate::{
    expect::{ExpectCall, ExpectCalls, Order},
    observation::ObservedCall,
};

pub(super) fn check(expect: &ExpectCalls, seen: &[ObservedCall], checks: &mut Checks) {
    if !expect.calls.is_empty() || expect.order == Order::Exact {
        let problem = match expect.order {
            Order::Exact => exact_problem(&expect.calls, seen),
            Order::InOrder => order_problem(&expect.calls, seen),
            Order::Any => missing_problem(&expect.calls, seen),
        };
        checks.add("tools.calls", problem);
    }
    for name in &expect.never {
        let problem = seen.iter().find(|call| call.name == *name);
        checks.add("tools.never", problem.map(|call| format!("it called {}", shown(call))));
    }
}

fn exact_problem(expected: &[ExpectCall], seen: &[ObservedCall]) -> Option<String> {
    for (index, expected) in expected.iter().enumerate() {
        match seen.get(index) {
            Some(call) if is_expected(expected, call) => {}
            Some(call) => {
                let number = index + 1;
                return Some(format!(
                    "call {number}: expected {}, got {}",
                    described(expected),
                    shown(call)
                ));
            }
            None => return Some(format!("{} is missing; {}", described(expected), listed(seen))),
        }
    }
    let more = seen.get(expected.len())?;
    Some(format!("it also called {}", shown(more)))
}

fn order_problem(expected: &[ExpectCall], seen: &[ObservedCall]) -> Option<String> {
    let mut rest = seen.iter();
    let missing = expected
        .iter()
        .find(|expected| !rest.by_ref().any(|call| is_expected(expected, call)))?;
    Some(format!(
        "{} is missing or comes too early; {}",
        described(missing),
        listed(seen)
    ))
}

/// Every call counts for one expected call. Those with fewer possible calls are not preferred: a call that fits two expected ones
/// counts for the first that it fits, so describe the special ones first.
fn missing_problem(expected: &[ExpectCall], seen: &[ObservedCall]) -> Option<String> {
    let mut left: Vec<&ObservedCall> = seen.iter().collect();
    for expected in expected {
        match left.iter().position(|call| is_expected(expected, call)) {
            Some(index) => drop(left.remove(index)),
            None => return Some(format!("{} is missing; {}", described(expected), listed(seen))),
        }
    }
    None
}

fn is_expected(expected: &ExpectCall, call: &ObservedCall) -> bool {
    let has = |(name, value): (&String, &serde_json::Value)| {
        call.arguments
            .get(name)
            .is_some_and(|argument| is_same(value, argument))
    };
    expected.name == call.name && expected.arguments.iter().all(has)
}

fn described(call: &ExpectCall) -> String {
    match call.arguments.is_empty() {
        true => format!("a call of `{}`", call.name),
        false => format!("`{}` with {}", call.name, shown_value(&call.arguments.clone().into())),
    }
}

fn shown(call: &ObservedCall) -> String {
    format!("`{}` with {}", call.name, shown_value(&call.arguments.clone().into()))
}

fn listed(seen: &[ObservedCall]) -> String {
    /// The number of calls that are shown.
    const MAX: usize = 8;
    let mut shown: Vec<String> = seen.iter().take(MAX).map(shown).collect();
    if seen.len() > MAX {
        shown.push(format!("{} more", seen.len() - MAX));
    }
    match shown.is_empty() {
        true => "it called no tool".to_owned(),
        false => format!("it called {}", shown.join(", ")),
    }
}
