//! [`FileLimits`]: the limits of the flow of a file.

use std::collections::BTreeMap;

use agcore_document::{Field, Placed};
use agcore_flow::Limit;

use super::{
    form::{self, Count, LimitWithExit},
    report::Report,
};

/// The limits of the flow of a [`FlowFile`](super::FlowFile).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileLimits {
    /// How many times a model may correct a result that does not fit; `None` is the default of the agent loop.
    pub max_repairs: Option<u32>,
    /// How many times the planner of a planner flow may decide; `None` is its default.
    pub max_rounds: Option<u32>,
    /// How often nodes of a graph may be visited, by their names.
    pub visits: BTreeMap<String, Limit>,
}

/// Checks the limits. Also returns the places of the nodes that they name.
pub(super) fn limits(report: &mut Report<'_>, form: form::Limits) -> (FileLimits, Vec<Placed<String>>) {
    let (mut limits, mut places) = (FileLimits::default(), Vec::new());
    limits.max_repairs = form.max_repairs.and_then(|repairs| repairs.value);
    if let Some(rounds) = form.max_rounds {
        limits.max_rounds = rounds.value.filter(|rounds| *rounds > 0);
        if rounds.value == Some(0) {
            report.problem(rounds.place, "the planner must be allowed to decide at least once");
        }
    }
    for (name, limit) in form.visits.and_then(|visits| visits.value).unwrap_or_default() {
        let Some((limit, exit)) = limit.value.and_then(visits) else {
            continue;
        };
        limits.visits.insert(name.value.clone(), limit);
        places.push(name);
        places.extend(exit);
    }
    (limits, places)
}

/// Returns a number of visits, and the node that is visited instead.
fn visits(form: form::Limit) -> Option<(Limit, Option<Placed<String>>)> {
    match form {
        form::Limit::Scalar(Count(visits)) => Some((Limit::new(visits), None)),
        form::Limit::Other(LimitWithExit { visits, exit }) => {
            let exit = exit.and_then(Field::placed);
            let limit = Limit::new(visits.value?.0);
            let limit = match &exit {
                Some(exit) => limit.with_exit(&exit.value),
                None => limit,
            };
            Some((limit, exit))
        }
    }
}
