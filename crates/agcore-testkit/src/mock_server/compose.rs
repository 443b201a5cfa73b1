//! From a reply to what the socket gets: pure, without time.
//!
//! `draft` renders the reply as frames of bytes; `bend` is what faults do to events; `timetable` lays byte faults,
//! pauses and ends over the frames.

mod bend;
mod draft;
#[cfg(feature = "gzip")]
mod gzip;
mod timetable;

use super::reply::Reply;
use super::request::RecordedRequest;
use super::transmission::Transmission;

/// What is to be sent in reply to a request.
pub(crate) fn compose(reply: &Reply, request: &RecordedRequest) -> Transmission {
    let draft = draft::draft(reply, request);
    let timetable = timetable::timetable(&draft.frames, draft.streamed, reply);
    Transmission {
        status: draft.status,
        headers: draft.headers,
        prelude: timetable.prelude,
        body: timetable.body,
        length: timetable.length,
    }
}
