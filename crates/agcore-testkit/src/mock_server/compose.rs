//! Turning a reply into the steps of its transmission. Pure: nothing here depends on time or on the connection.
//!
//! `draft` renders the reply as frames of bytes, `event_faults` applies faults to its events, and `schedule` adds byte
//! faults, pauses and ends to the frames.

mod transmission;
mod event_faults;
#[cfg(feature = "gzip")]
mod gzip;
mod draft;
mod schedule;

pub(crate) use transmission::{Step, Transmission};

use crate::mock_server::{reply::Reply, request::RecordedRequest};

/// Composes the transmission of the reply to a request.
pub(crate) fn compose(reply: &Reply, request: &RecordedRequest) -> Transmission {
    let draft = draft::draft(reply, request);
    let schedule = schedule::schedule(&draft.frames, draft.streamed, reply);
    Transmission {
        status: draft.status,
        headers: draft.headers,
        prelude: schedule.prelude,
        body: schedule.body,
        content_length: schedule.content_length,
    }
}
