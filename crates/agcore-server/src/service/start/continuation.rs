//! Continuations that have the id of the run that has asked.
//!
//! Some clients answer a question with a request that has the id of the run in which it was asked, again and again if there are
//! more questions. Each of these requests is a run of its own, with an id that is made from that one, and with that one as its
//! parent.

use std::collections::HashSet;

use agcore_session::{Approval, Run, RunFilter, RunStatus};

use crate::{
    problem::Problem,
    run::RunInput,
    service::owned::{OwnedRun, OwnedThread},
};

/// The longest part of an id that the ids made from it begin with, in bytes.
const MAX_PART: usize = 112;

/// Returns the id of a run with answers that a client calls `run`, and sets its parent if that is the id of a run that it
/// continues. The caller holds the lock of the thread. `open` are runs of the thread, with all that are open.
///
/// # Errors
/// When the store fails.
pub(super) async fn id_for(
    own: &OwnedThread<'_>,
    run: &str,
    input: &mut RunInput,
    (approvals, open): (&[Approval], &[Run]),
) -> Result<String, Problem> {
    let is_new = own.find_run(run).await?.is_none();
    if is_new || !continues(own, run, input, (approvals, open)).await? {
        return Ok(run.to_owned());
    }
    input.parent = Some(run.to_owned());
    let mut number = 2_u64;
    loop {
        let id = numbered(run, number);
        if own.find_run(&id).await?.is_none() {
            return Ok(id);
        }
        number += 1;
    }
}

/// Returns the newest run that is not over, and that a client knows by the id of another one, which it continues.
///
/// # Errors
/// When the store fails.
pub(in crate::service) async fn open_under(
    own: &OwnedThread<'_>,
    run: &str,
) -> Result<Option<(OwnedRun, Run)>, Problem> {
    let open = own.runs(&RunFilter::new().open()).await?;
    let is_under = |other: &Run| {
        let input = RunInput::of(other);
        input.is_some_and(|input| input.is_continuation() && input.parent.as_deref() == Some(run))
    };
    let found = open.into_iter().rev().find(is_under);
    Ok(found.map(|run| (own.with_run(&run.id), run)))
}

/// Returns whether a run with answers continues the run with this id: that one has asked, or one that continues it has.
async fn continues(
    own: &OwnedThread<'_>,
    run: &str,
    input: &RunInput,
    (approvals, open): (&[Approval], &[Run]),
) -> Result<bool, Problem> {
    let waiting = open.iter().filter(|run| run.status == RunStatus::Interrupted);
    let mut next: Vec<String> = waiting.map(|run| run.id.clone()).collect();
    next.extend(askers(input, approvals));
    let mut seen = HashSet::new();
    while let Some(id) = next.pop() {
        if id == run {
            return Ok(true);
        }
        if !seen.insert(id.clone()) {
            continue;
        }
        let known = own.find_run(&id).await?.and_then(|(_, known)| RunInput::of(&known));
        if let Some(known) = known.filter(RunInput::is_continuation) {
            next.extend(askers(&known, approvals));
            next.extend(known.parent);
        }
    }
    Ok(false)
}

/// Returns the runs that have asked the questions which an input answers.
fn askers<'a>(input: &'a RunInput, approvals: &'a [Approval]) -> impl Iterator<Item = String> + 'a {
    let answered = approvals.iter().filter(|approval| input.is_answer_to(&approval.id));
    answered.map(|approval| approval.run.clone())
}

/// Returns an id with a number that is not longer than ids of clients may be.
fn numbered(run: &str, number: u64) -> String {
    let mut end = run.len().min(MAX_PART);
    while !run.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}.{number}", &run[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stay_short_and_whole() {
        assert_eq!(numbered("r1", 2), "r1.2");
        assert_eq!(numbered("", 2), ".2");
        let long = numbered(&"é".repeat(128), u64::MAX);
        assert!(long.len() <= 133 && long.starts_with(&"é".repeat(56)), "{long}");
        let odd = numbered(&format!("x{}", "é".repeat(128)), 3);
        assert_eq!(odd, format!("x{}.3", "é".repeat(55)));
    }
}
