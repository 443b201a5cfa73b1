//! Branches of conversations: a message is edited, and the conversation continues from there.

use std::sync::Arc;

use agcore_console::Notice;
use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};

use super::{
    chat::{page_of, say},
    form::Form,
    runs::answer,
    visitor::Visitor,
};
use crate::{
    problem::{Problem, ProblemCode},
    service::{App, BranchPoint},
};

/// `POST /console/chat/{thread}/branch`: creates a branch that ends before a message, and sends another message to it.
pub(super) async fn branch(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(thread): Path<String>,
    form: Form,
) -> Response {
    let sent = async {
        app.service.own(&visitor.actor, &thread).await?;
        match send(&app, &visitor, &thread, &form).await {
            Ok(response) => Ok(response),
            Err(problem) if problem.is_unknown() => Err(problem),
            Err(problem) => {
                let notice = Notice::Refused(problem.detail().to_owned());
                page_of(&app, &visitor, &thread, (problem.status(), Some(notice), None)).await
            }
        }
    };
    let sent = Box::pin(sent).await;
    answer(&app, &visitor, sent).await
}

async fn send(app: &Arc<App>, visitor: &Visitor, thread: &str, form: &Form) -> Result<Response, Problem> {
    if form.text("message").trim().is_empty() {
        return Err(Problem::invalid("the message is empty; write one"));
    }
    let (id, point) = (
        form.get("thread").to_owned(),
        BranchPoint::Before(form.get("before").to_owned()),
    );
    let (service, actor, from) = (Arc::clone(&app.service), visitor.actor.clone(), thread.to_owned());
    let new = id.clone();
    let create = async move { service.branch(&actor, &from, new, &point).await };
    match app.service.carry_out(create).await {
        Ok(_) => {}
        // The same form again: its message is the same run.
        Err(problem) if problem.code() == ProblemCode::ThreadExists => {
            app.service.own(&visitor.actor, &id).await?;
        }
        Err(problem) => return Err(problem),
    }
    say(app, &visitor.actor, (&id, None), form).await
}
