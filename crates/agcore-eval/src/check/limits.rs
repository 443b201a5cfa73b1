//! Checks of what a case has used.

use agcore_chat::Money;

use super::list::Checks;
use crate::{expect::Expect, observation::Observation};

pub(super) fn check(expect: &Expect, seen: &Observation, checks: &mut Checks) {
    if let Some(most) = expect.max_steps {
        let problem = (seen.steps > most)
            .then(|| format!("it called the model {} times; at most {most} are expected", seen.steps));
        checks.add("max_steps", problem);
    }
    if let Some(most) = expect.max_tool_calls {
        let count = seen.calls.len();
        let problem = (count > most).then(|| format!("it called tools {count} times; at most {most} are expected"));
        checks.add("max_tool_calls", problem);
    }
    if let Some(most) = expect.max_tokens {
        let problem = match seen.tokens {
            Some(tokens) if tokens <= most => None,
            Some(tokens) => Some(format!("it used {tokens} tokens; at most {most} are expected")),
            None => Some("the tokens are unknown: the model did not report them for each call".to_owned()),
        };
        checks.add("max_tokens", problem);
    }
    if let Some(most) = &expect.max_cost {
        checks.add("max_cost", cost_problem(most, &seen.costs));
    }
    if seen.unused_replies > 0 {
        let problem = format!("{} replies of the script were not used", seen.unused_replies);
        checks.add("replies", Some(problem));
    }
}

fn cost_problem(most: &Money, costs: &[Money]) -> Option<String> {
    if costs.is_empty() {
        return Some("the cost is unknown; the target needs the prices of its model".to_owned());
    }
    if let Some(other) = costs
        .iter()
        .find(|cost| cost.currency != most.currency && cost.micros != 0)
    {
        return Some(format!("a part of the cost is in another currency: {other}"));
    }
    let cost = costs.iter().find(|cost| cost.currency == most.currency)?;
    (cost.micros > most.micros).then(|| format!("it cost {cost}; at most {most} are expected"))
}
