//! Lists of runs over sessions.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{State, stored::limit};
use crate::session::filter::{ListedRun, RunCursor, RunListFilter};

impl State {
    /// Returns the runs that a filter selects, the newest first.
    pub(super) fn listed_runs(&self, filter: &RunListFilter) -> Vec<ListedRun> {
        let sessions = self.tenants.get(&*filter.owner.tenant);
        let sessions = sessions.into_iter().flat_map(BTreeMap::values);
        let runs = sessions.flat_map(|stored| {
            let (session, runs) = (&stored.session, stored.runs.iter().map(|stored| &stored.run));
            let selected = runs.filter(|run| filter.matches(session, run));
            selected.map(|run| {
                let text = |name: &String| run.input.as_ref()?.get(name)?.as_str().map(str::to_owned);
                let label = filter.label.as_ref().and_then(text);
                ListedRun::new(&*session.id, session.title.clone(), label, run.clone())
            })
        });
        let mut runs: Vec<ListedRun> = runs.collect();
        runs.sort_by_cached_key(|listed| {
            let RunCursor {
                created_at,
                session,
                run,
            } = RunCursor::of(listed);
            Reverse((created_at, session, run))
        });
        runs.truncate(limit(filter.limit));
        runs
    }
}
