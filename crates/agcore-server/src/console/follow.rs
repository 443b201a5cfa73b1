//! The stream of a conversation: what a run writes, as it is written.

mod entries;

use std::sync::Arc;

use agcore_agui::{Format, sse_comment};
use agcore_console::{Fragment, Shell, composer_fragment, count_fragment};
use agcore_session::{RunFilter, SessionError};
use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, Uri};
use serde::Deserialize;

use self::entries::Entries;
use super::{chat::thread_view, visitor::Visitor};
use crate::{
    problem::Problem,
    routes::{parameters, sse},
    service::{App, OwnedRun},
    stream::EventStream,
};

#[derive(Debug, Deserialize)]
struct FollowQuery {
    run: String,
    last: Option<u64>,
}

/// `GET /console/live/chat/{thread}`: what the active run of a conversation writes. The ids of its events are those of the log, so
/// that a browser continues after the last one that it has seen, also on another server.
pub(super) async fn chat(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(thread): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let opened = async {
        let query: FollowQuery = parameters(&uri)?;
        let by_header = headers
            .get("last-event-id")
            .and_then(|id| id.to_str().ok()?.parse().ok());
        let last = by_header.or(query.last).unwrap_or(0);
        let (run, _) = app.service.own(&visitor.actor, &thread).await?.run(&query.run).await?;
        let permit = app.service.open_stream(&visitor.actor)?;
        let shell = visitor.shell(&app).await?;
        let events = EventStream::new(Arc::clone(&app.service), run.clone(), Format::default(), permit).await?;
        Ok::<_, Problem>(Follower {
            app: Arc::clone(&app),
            visitor: visitor.clone(),
            entries: Entries::new(shell, run.clone()),
            run,
            events: Some(events),
            last,
        })
    };
    match opened.await {
        Ok(follower) => {
            let frames = stream::unfold(Some(follower), |follower| async move {
                let mut follower = follower?;
                match follower.next().await {
                    Ok(Some(frames)) => Some((Ok(Bytes::from(frames)), Some(follower))),
                    Ok(None) => None,
                    Err(error) => Some((Err(error), None)),
                }
            });
            sse(Body::from_stream(frames))
        }
        Err(problem) => problem.into_response(),
    }
}

/// A reader of the runs of a conversation.
struct Follower {
    app: Arc<App>,
    visitor: Visitor,
    run: OwnedRun,
    entries: Entries,
    /// `None` after the end.
    events: Option<EventStream>,
    /// The number of the last event that the browser has seen.
    last: u64,
}

impl Follower {
    /// Returns the next frames; `None` at the end.
    async fn next(&mut self) -> Result<Option<String>, SessionError> {
        let Some(events) = &mut self.events else {
            return Ok(None);
        };
        let Some(items) = events.next_events().await? else {
            return self.end().await;
        };
        let mut frames = String::new();
        for item in items {
            // What the browser has seen is not sent again, but what follows depends on it.
            let fragments = self.entries.push(&item.event);
            if item.seq > self.last {
                let id = item.seq.to_string();
                fragments
                    .iter()
                    .for_each(|fragment| frames.push_str(&fragment.to_event(&id)));
                self.last = item.seq;
            }
        }
        Ok(Some(if frames.is_empty() {
            sse_comment("keep-alive")
        } else {
            frames
        }))
    }

    /// Continues with the run that has waited for this one, or ends the stream with what can be done now. A run that another
    /// process continues has not ended: the browser comes back.
    async fn end(&mut self) -> Result<Option<String>, SessionError> {
        let Some(events) = self.events.take() else {
            return Ok(None);
        };
        if !self.entries.is_over() {
            return Ok(None);
        }
        if let Some(next) = next_run(&self.app, &self.visitor, &self.run).await? {
            self.entries = Entries::new(self.entries.shell().clone(), next.clone());
            self.events = Some(events.then(next.clone()).await?);
            self.run = next;
            return Ok(Some(sse_comment("next")));
        }
        let (app, visitor, thread) = (&self.app, &self.visitor, &self.run.thread);
        let shown = async {
            let thread = thread_view(app, &visitor.actor, thread, None).await?;
            let shell: Shell = visitor.shell(app).await?;
            Ok::<_, Problem>((composer_fragment(&shell, &thread), count_fragment(&shell)))
        };
        let id = self.last.to_string();
        let mut frames = String::new();
        if let Ok((composer, count)) = shown.await {
            frames.push_str(&Fragment::Element(composer).to_event(&id));
            frames.push_str(&Fragment::Element(count).to_event(&id));
        }
        frames.push_str(&Fragment::End.to_event(&id));
        Ok(Some(frames))
    }
}

/// Returns the run of a conversation that begins when another one has ended.
async fn next_run(app: &App, visitor: &Visitor, run: &OwnedRun) -> Result<Option<OwnedRun>, SessionError> {
    let Ok(own) = app.service.own(&visitor.actor, &run.thread).await else {
        return Ok(None);
    };
    let open = own.runs(&RunFilter::new().open()).await?;
    let next = open.iter().find(|next| next.status.is_workable() && next.id != run.run);
    match next {
        Some(next) => Ok(own.find_run(&next.id).await?.map(|(run, _)| run)),
        None => Ok(None),
    }
}
