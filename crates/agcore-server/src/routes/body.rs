//! [`read`]: the body of a request.

use std::time::Duration;

use agcore_chat::Clock;
use agcore_webhook::{DeliveryPayload, PayloadError};
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;

use crate::{
    problem::{Problem, ProblemCode},
    settings::Limits,
};

/// A file has this many times the time of another body to arrive.
const FILE_TIMEOUTS: u32 = 10;

/// The time of a delivery to arrive, which is small and comes from another server.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the whole body of a request that sends JSON.
///
/// # Errors
/// When the body is not declared as JSON, is too large, breaks off or does not arrive in time.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
    clock: &dyn Clock,
) -> Result<Bytes, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let detail = "the body must be JSON, with the header `Content-Type: application/json`";
        return Err(Problem::new(ProblemCode::UnsupportedMediaType, detail));
    }
    check_head(headers, limits.max_body_bytes)?;
    tokio::select! {
        read = collect(body, limits.max_body_bytes) => read,
        () = clock.sleep(limits.read_timeout) => {
            Err(Problem::new(ProblemCode::BodyTimeout, "the body did not arrive in time; send the request again"))
        }
    }
}

/// Reads the whole body of a delivery, of a sender who has proved nothing yet.
///
/// # Errors
/// When the body is neither declared as JSON nor as a form, is too large, breaks off or does not arrive in time.
pub(super) async fn read_delivery(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
    clock: &dyn Clock,
) -> Result<Bytes, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if let Err(error @ PayloadError::Type) = DeliveryPayload::parse(kind.unwrap_or_default(), &[]) {
        return Err(Problem::new(ProblemCode::UnsupportedMediaType, error.to_string()));
    }
    check_head(headers, limits.max_delivery_bytes)?;
    tokio::select! {
        read = collect(body, limits.max_delivery_bytes) => read,
        () = clock.sleep(limits.read_timeout.min(DELIVERY_TIMEOUT)) => {
            Err(Problem::new(ProblemCode::BodyTimeout, "the delivery did not arrive in time; send it again"))
        }
    }
}

/// Reads the whole body of a request that sends a file.
///
/// # Errors
/// When the body is too large, breaks off or does not arrive in time.
pub(super) async fn read_file(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
    clock: &dyn Clock,
) -> Result<Bytes, Problem> {
    check_head(headers, limits.max_file_bytes)?;
    tokio::select! {
        read = collect(body, limits.max_file_bytes) => read,
        () = clock.sleep(limits.read_timeout * FILE_TIMEOUTS) => {
            Err(Problem::new(ProblemCode::BodyTimeout, "the file did not arrive in time; send it again"))
        }
    }
}

/// Reads a JSON value of a known form.
///
/// # Errors
/// `invalid_body` if the body has another form.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        // Only the place: the message may quote the body.
        let detail = format!(
            "the body does not have the expected form (line {}, column {}); see /docs",
            error.line(),
            error.column()
        );
        Problem::new(ProblemCode::InvalidBody, detail)
    })
}

/// Checks what the head of a request states about the body.
///
/// # Errors
/// When the body is compressed, or larger than the limit: it is not read then.
fn check_head(headers: &HeaderMap, limit: usize) -> Result<(), Problem> {
    let coding = headers.get(header::CONTENT_ENCODING);
    if coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let detail = "compressed bodies are not read; send it without Content-Encoding";
        return Err(Problem::new(ProblemCode::UnsupportedMediaType, detail));
    }
    match declared_length(headers).is_some_and(|length| length > limit as u64) {
        true => Err(too_large(limit)),
        false => Ok(()),
    }
}

/// Returns the length of the body, if the head of the request declares it.
pub(super) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large(limit: usize) -> Problem {
    let detail = format!("the body has more than {limit} bytes; send less");
    Problem::new(ProblemCode::BodyTooLarge, detail)
}

async fn collect(mut body: Body, limit: usize) -> Result<Bytes, Problem> {
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::new(ProblemCode::InvalidBody, "the body broke off; send it again"))?;
        let Ok(data) = frame.into_data() else { continue };
        if read.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}
