//! The floor: bare axum handlers that send the same frames.

use std::{convert::Infallible, io::Write as _, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::header,
    response::{IntoResponse, Response},
    routing::{get, post},
    serve::ListenerExt as _,
};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::{
    net::TcpListener,
    sync::broadcast::{self, error::RecvError},
};

use crate::{
    Fallible,
    plan::{Plan, now},
};

/// The number of frames that a follower may be behind.
const CAPACITY: usize = 1024;

/// The runs that have followers, who get frames and whether each is the last.
type Runs = Arc<Vec<broadcast::Sender<(Bytes, bool)>>>;

/// Serves both handlers until the process ends.
pub(crate) async fn serve(runs: usize) -> Fallible {
    let runs: Runs = Arc::new((0..runs).map(|_| broadcast::Sender::new(CAPACITY)).collect());
    let router = Router::new()
        .route("/api/v1/agent/run", post(run))
        .route("/api/v1/agent/runs/{run}", post(start))
        .route("/api/v1/agent/runs/{run}/events", get(follow))
        .with_state(runs);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    let listener = listener.tap_io(|stream| {
        // If this fails, frames are late, which the client notices.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await?;
    Ok(())
}

/// Sends a frame for each delta.
async fn run(plan: String) -> Response {
    match plan.parse::<Plan>() {
        Ok(plan) => {
            let words = plan.words().map(|word| Ok::<_, Infallible>(Bytes::from(frame(word))));
            let end = Bytes::from_static(b"data: {\"type\":\"RUN_FINISHED\"}\n\n");
            events(Body::from_stream(words.chain(stream::iter([Ok(end)]))))
        }
        Err(error) => (axum::http::StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

/// Starts a task that sends a frame for each delta to all followers.
async fn start(State(runs): State<Runs>, Path(run): Path<usize>, plan: String) -> Response {
    let (Some(run), Ok(plan)) = (runs.get(run).cloned(), plan.parse::<Plan>()) else {
        return axum::http::StatusCode::BAD_REQUEST.into_response();
    };
    tokio::spawn(async move {
        let mut id = 1_u64;
        let mut words = std::pin::pin!(plan.words());
        while let Some(word) = words.next().await {
            id += 1;
            let frame = format!("id: {id}\nevent: TEXT_MESSAGE_CONTENT\n{}", frame(word));
            // Without followers, nothing is sent.
            let _ = run.send((frame.into(), false));
        }
        let end = format!(
            "id: {}\nevent: RUN_FINISHED\ndata: {{\"type\":\"RUN_FINISHED\"}}\n\n",
            id + 1
        );
        let _ = run.send((end.into(), true));
    });
    axum::http::StatusCode::ACCEPTED.into_response()
}

/// Sends the frames of a run until its end.
async fn follow(State(runs): State<Runs>, Path(run): Path<usize>) -> Response {
    let Some(run) = runs.get(run) else {
        return axum::http::StatusCode::NOT_FOUND.into_response();
    };
    let frames = stream::unfold(Some(run.subscribe()), |receiver| async move {
        let mut receiver = receiver?;
        match receiver.recv().await {
            Ok((frame, is_last)) => Some((Ok(frame), (!is_last).then_some(receiver))),
            Err(RecvError::Lagged(_)) => Some((Err("the follower is too slow"), None)),
            Err(RecvError::Closed) => None,
        }
    });
    events(Body::from_stream(frames))
}

fn events(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// Returns a frame like that of the server, written with a single allocation.
fn frame(word: &str) -> String {
    let now = now();
    format!(
        "data: {{\"type\":\"TEXT_MESSAGE_CONTENT\",\"timestamp\":{now},\"messageId\":\"message-of-the-run\",\"delta\":\"{word}\"}}\n\n"
    )
}
