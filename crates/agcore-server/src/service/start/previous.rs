//! Runs that continue the answer of an earlier one.

use agcore_openai::{ApiError, ResponseId};
use agcore_session::{Run, RunFilter};

use crate::{problem::Problem, run::RunInput, service::owned::OwnedThread};

/// The number of runs among which those are looked for that came after another one.
const RUNS: u64 = 200;

/// Checks that a message which continues an answer follows the newest one of its thread. The caller holds the lock of the thread.
///
/// # Errors
/// `invalid_request` if it does not, and errors of the store.
pub(super) async fn check_newest(own: &OwnedThread<'_>, input: &RunInput) -> Result<(), Problem> {
    let previous = input.note.as_ref().and_then(|note| note.previous.as_deref());
    let Some(previous) = previous.and_then(ResponseId::decode) else {
        return Ok(());
    };
    if input.is_continuation() {
        return Ok(());
    }
    let runs = own.runs(&RunFilter::new().with_last(RUNS)).await?;
    let at = runs.iter().position(|run| run.id == previous.run);
    let is_newest = at.is_some_and(|at| runs.iter().skip(at + 1).all(is_part_of_answer));
    if is_newest {
        return Ok(());
    }
    let message = "`previous_response_id` is not the newest response of its conversation; continue that one, or send the whole \
                   conversation as `input`";
    let error = ApiError::new(400, "unsupported_value", message);
    Err(error.with_param("previous_response_id").into())
}

/// Returns whether a run continues an earlier one, and is a part of its answer.
fn is_part_of_answer(run: &Run) -> bool {
    let input = RunInput::of(run);
    input.is_some_and(|input| input.is_continuation() && input.note.is_none())
}
