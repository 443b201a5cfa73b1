//! Streams for pages that show a present state: it is read again and again, and sent when it has changed.

mod watch;

use std::sync::Arc;

use agcore_console::{Fragment, Status, inbox_fragment, run_fragment, runs_fragment};
use axum::{
    Extension,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Uri};
use tokio::sync::Mutex;

use self::watch::{Seen, Watched, watch};
use super::{
    inbox::inbox_view,
    runs::{ListQuery, RowQuery, run_view, runs_view},
    visitor::{Visitor, millis},
};
use crate::{
    reports::TimelineReader,
    routes::{parameters, sse},
    service::App,
};

/// The time in milliseconds after which a run that is active is drawn again, although nothing new is known.
const REDRAW: i64 = 5000;

/// `GET /console/live/runs`: changes of the list of runs.
pub(super) async fn runs(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let query: ListQuery = match parameters(&uri) {
        Ok(query) => query,
        Err(problem) => return problem.into_response(),
    };
    stream(&app, &visitor, &headers, move |app, visitor| {
        let query = query.clone();
        Box::pin(async move {
            let view = runs_view(&app, &visitor.actor, query).await?;
            let shell = visitor.shell(&app).await?;
            let mut still = shell.clone();
            still.now = 0;
            Ok(Watched {
                seen: Seen::of(&[&runs_fragment(&still, &view)]),
                fragment: Fragment::Element(runs_fragment(&shell, &view)),
                shell,
                is_over: false,
            })
        })
    })
}

/// `GET /console/live/runs/{thread}/{run}`: changes of a run, until it is over.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path((thread, run)): Path<(String, String)>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let rows: RowQuery = match parameters(&uri) {
        Ok(query) => query,
        Err(problem) => return problem.into_response(),
    };
    if let Err(problem) = app.service.own(&visitor.actor, &thread).await {
        return problem.into_response();
    }
    // Kept between looks, so that each reads only what is new.
    let reader = Arc::new(Mutex::new(TimelineReader::default()));
    stream(&app, &visitor, &headers, move |app, visitor| {
        let (thread, run, reader) = (thread.clone(), run.clone(), Arc::clone(&reader));
        Box::pin(async move {
            let mut reader = reader.lock().await;
            let view = run_view(&app, &visitor.actor, (&thread, &run), rows, &mut reader)
                .await?
                .0;
            let shell = visitor.shell(&app).await?;
            let is_over = !matches!(view.run.status, Status::Queued | Status::Running | Status::Waiting);
            let (mut still, mut drawn) = (shell.clone(), view.clone());
            (still.now, drawn.range.1) = (0, 0);
            let time = match view.run.status {
                Status::Running => millis(app.service.clock.now()) / REDRAW,
                _ => 0,
            };
            Ok(Watched {
                seen: Seen::of(&[&run_fragment(&still, &drawn), &time.to_string()]),
                fragment: Fragment::Element(run_fragment(&shell, &view)),
                shell,
                is_over,
            })
        })
    })
}

/// `GET /console/live/inbox`: changes of the open questions.
pub(super) async fn inbox(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
) -> Response {
    stream(&app, &visitor, &headers, move |app, visitor| {
        Box::pin(async move {
            let view = inbox_view(&app, &visitor.actor, None).await?;
            let shell = visitor.shell(&app).await?;
            let mut still = shell.clone();
            still.now = 0;
            Ok(Watched {
                seen: Seen::of(&[&inbox_fragment(&still, &view)]),
                fragment: Fragment::Element(inbox_fragment(&shell, &view)),
                shell,
                is_over: false,
            })
        })
    })
}

fn stream(
    app: &Arc<App>,
    visitor: &Visitor,
    headers: &HeaderMap,
    look: impl Fn(Arc<App>, Visitor) -> watch::Look + Send + Sync + 'static,
) -> Response {
    let permit = match app.service.open_stream(&visitor.actor) {
        Ok(permit) => permit,
        Err(problem) => return problem.into_response(),
    };
    let last = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok())
        .map(str::to_owned);
    let body = watch(Arc::clone(app), visitor.clone(), permit, last, look);
    sse(axum::body::Body::from_stream(body))
}
