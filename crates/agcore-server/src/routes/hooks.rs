//! Deliveries of other programs.

use std::sync::Arc;

use agcore_webhook::{DeliveryHeaders, Handshake};
use axum::{
    Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode};

use super::body;
use crate::{
    api::{DeliveryAnswer, DeliveryStatus},
    problem::Problem,
    service::{Accepted, App, HookRun},
    telemetry::span,
};

/// The words about a delivery that was repeated with another body.
const DIFFERS: &str =
    "a delivery with this id and another body was received before; its run counts, and this body is not used";

/// `POST /hooks/{hook}`: starts the run of a delivery.
pub(super) async fn receive(
    State(app): State<Arc<App>>,
    Path(hook): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let place = service.place_for_delivery()?;
    let read = body::read_delivery(&headers, body, &service.limits, &*service.clock).await?;
    let view: DeliveryHeaders<'_> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let accepted = service.accept_delivery(&hook, &view, &read)?;
    // From here on, the sender is known, and the limits of the owner apply.
    drop(place);
    let (hook, delivery) = match accepted {
        Accepted::Run(hook, delivery) => (hook, delivery),
        Accepted::Ignored => return Ok(answer(StatusCode::OK, DeliveryAnswer::new(DeliveryStatus::Ignored))),
        Accepted::Handshake(handshake) => return Ok(shaken(handshake)),
    };
    span::sent_by(&hook.owner);
    let starting = Arc::clone(service);
    let start = async move { starting.start_delivery(&hook, &delivery).await };
    let HookRun { run, is_new, differs } = service.carry_out(start).await?;
    let (status, code) = match is_new {
        true => (DeliveryStatus::Started, StatusCode::ACCEPTED),
        false => (DeliveryStatus::Repeated, StatusCode::OK),
    };
    let job = run.into_job();
    let body = DeliveryAnswer {
        thread_id: Some(job.thread),
        run_id: Some(job.run),
        note: differs.then_some(DIFFERS),
        ..DeliveryAnswer::new(status)
    };
    Ok(answer(code, body))
}

fn shaken(handshake: Handshake) -> Response {
    let mut body = DeliveryAnswer::new(DeliveryStatus::Ready);
    if let Handshake::Challenge(challenge) = handshake {
        body.challenge = Some(challenge);
    }
    answer(StatusCode::OK, body)
}

fn answer(code: StatusCode, body: DeliveryAnswer) -> Response {
    (code, Json(body)).into_response()
}
