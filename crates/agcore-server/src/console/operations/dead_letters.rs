//! The pages of runs that have ended their workers.

use std::sync::Arc;

use agcore_console::{
    Change, ConfirmView, DeadLetterView, DeadLettersView, confirm_page, dead_letter_page, dead_letters_page, encoded,
};
use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use http::Uri;

use super::{convert, guard::answer, overview::PageQuery};
use crate::{
    console::{
        form::Form,
        reply::{page, see},
        visitor::Operator,
    },
    problem::Problem,
    routes::{dead_letter_cursor, dead_letter_cursor_text, parameters},
    service::App,
};

/// The number of dead letters on a page.
const LETTERS: u64 = 50;

/// The tenant, the thread and the run in a path.
type Place = (String, String, String);

/// `GET …/dead-letters`: the dead letters, the oldest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path(tenant): Path<String>,
    uri: Uri,
) -> Response {
    let shown = async {
        let PageQuery { cursor } = parameters(&uri)?;
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        let after = cursor.as_deref().map(dead_letter_cursor).transpose()?;
        let letters = app.service.dead_letters(&tenant, after, LETTERS).await?;
        let is_full = letters.len() as u64 >= LETTERS;
        let last = letters.last().filter(|_| is_full);
        let view = DeadLettersView {
            next: last.map(|letter| dead_letter_cursor_text(&letter.cursor())),
            letters: letters
                .into_iter()
                .map(|letter| convert::dead_letter(&tenant, letter))
                .collect(),
            tenant,
            cursor,
        };
        Ok(page(dead_letters_page(&operator.shell(&app), &view)))
    };
    answer(&app, &operator, shown.await).await
}

/// `GET …/dead-letters/{thread}/{run}`: a dead letter.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path((tenant, thread, run)): Path<Place>,
) -> Response {
    let shown = async {
        let (letter, found, owner) = app.service.dead_letter(&tenant, &thread, &run).await?;
        let view = DeadLetterView {
            letter: convert::dead_letter(&tenant, letter),
            user: owner.user.to_string(),
            line: owner.line.as_deref().map(str::to_owned),
            accepted: found.created_at.as_millis(),
        };
        Ok(page(dead_letter_page(&operator.shell(&app), &view)))
    };
    answer(&app, &operator, shown.await).await
}

/// `POST …/dead-letters/{thread}/{run}/restart`: queues the run again.
pub(super) async fn restart(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path((tenant, thread, run)): Path<Place>,
    _: Form,
) -> Response {
    let (service, back) = (Arc::clone(&app.service), list_address(&tenant));
    let restart = async move { service.restart_dead(&tenant, &thread, &run).await };
    let restarted = app.service.carry_out(restart).await.map(|_| see(&back));
    answer(&app, &operator, restarted).await
}

/// `GET …/dead-letters/{thread}/{run}/delete`: asks whether a dead letter is to be discarded.
pub(super) async fn ask(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path((tenant, thread, run)): Path<Place>,
) -> Response {
    let shown = async {
        let (letter, ..) = app.service.dead_letter(&tenant, &thread, &run).await?;
        let letter = convert::dead_letter(&tenant, letter);
        let back = letter.address();
        let view = ConfirmView {
            change: Change::DiscardDeadLetter,
            action: format!("{back}/delete"),
            subject: vec![letter.tenant, letter.thread, letter.run],
            fields: Vec::new(),
            back,
        };
        Ok(page(confirm_page(&operator.shell(&app), &view)))
    };
    answer(&app, &operator, shown.await).await
}

/// `POST …/dead-letters/{thread}/{run}/delete`: discards a dead letter. The run stays failed.
pub(super) async fn discard(
    State(app): State<Arc<App>>,
    Extension(operator): Extension<Operator>,
    Path((tenant, thread, run)): Path<Place>,
    _: Form,
) -> Response {
    let (service, back) = (Arc::clone(&app.service), list_address(&tenant));
    let discard = async move { service.discard_dead(&tenant, &thread, &run).await };
    let discarded: Result<(), Problem> = app.service.carry_out(discard).await;
    answer(&app, &operator, discarded.map(|()| see(&back))).await
}

fn list_address(tenant: &str) -> String {
    format!("/console/operations/tenants/{}/dead-letters", encoded(tenant))
}
