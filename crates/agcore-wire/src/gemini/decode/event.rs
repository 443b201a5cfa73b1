//! Chunks of a stream and whole replies, which have the same form. The same functions read both, and emit deltas as they
//! read.

use std::borrow::Cow;

use serde_json::{Result, Value};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{members::is_piece, message::Candidate, state::State};
use crate::{
    decode::{
        json::JsonReader,
        lenient::{is_absent_error, is_blank},
    },
    delta::ReplyDelta,
};

/// The contents of a chunk apart from its deltas.
#[derive(Debug, Default)]
pub(super) struct Summary<'de> {
    /// Whether the chunk has any of the members of a reply.
    pub(super) is_reply: bool,
    /// Whether it has candidates.
    pub(super) has_candidates: bool,
    /// The error that it reports.
    pub(super) error: Option<Value>,
    /// A description of a part that cannot be read.
    pub(super) fault: Option<String>,
    /// Its text, if it contains nothing else.
    pub(super) only_text: Option<&'de str>,
}

/// Reads a chunk or a whole reply, and emits its deltas. The caller must discard the deltas if this returns an error.
pub(super) fn read<'de>(data: &'de [u8], state: &mut State, out: &mut Vec<ReplyDelta>) -> Result<Summary<'de>> {
    let mut json = JsonReader::from_bytes(data)?;
    let summary = read_chunk(&mut json, state, out)?;
    json.end()?;
    Ok(summary)
}

fn read_chunk<'de>(json: &mut JsonReader<'de>, state: &mut State, out: &mut Vec<ReplyDelta>) -> Result<Summary<'de>> {
    let (mut summary, begin, mut has_news) = (Summary::default(), out.len(), false);
    let mut chunk = json.object("a reply or a chunk of one")?;
    while let Some(name) = json.next_name(&mut chunk)? {
        match &*name {
            "candidates" => read_candidates(json, state, &mut summary, out)?,
            "usageMetadata" => {
                summary.is_reply = true;
                has_news |= state.update_usage(json)?;
            }
            "responseId" => has_news |= fill(json, &mut state.start.id)?,
            "modelVersion" => has_news |= fill(json, &mut state.start.model)?,
            "createTime" if state.start.created.is_none() => {
                state.start.created = created(&json.str()?);
                has_news |= state.start.created.is_some();
            }
            "createTime" => json.skip()?,
            "promptFeedback" => {
                summary.is_reply = true;
                state.block(json.raw()?);
            }
            "error" => {
                let error = json.value()?;
                if !is_absent_error(&error) {
                    summary.error = Some(error);
                }
            }
            other => state.members.add(other, json.raw()?),
        }
    }
    if summary.is_reply || has_news {
        state.emit_start(has_news, begin, out);
    }
    state.emit_first_usage(out);
    // A single delta is the text: anything else in the chunk would have emitted another one.
    let is_only_text = out.len() == begin + 1 && summary.error.is_none() && !has_news;
    summary.only_text = summary.only_text.filter(|_| is_only_text);
    Ok(summary)
}

fn read_candidates<'de>(
    json: &mut JsonReader<'de>,
    state: &mut State,
    summary: &mut Summary<'de>,
    out: &mut Vec<ReplyDelta>,
) -> Result<()> {
    let mut list = json.list("a list of candidates")?;
    while json.next_item(&mut list)? {
        let Some(candidate) = Candidate::read(json)? else {
            continue;
        };
        let is_first = !summary.has_candidates;
        (summary.is_reply, summary.has_candidates) = (true, true);
        let is_plain = is_first && candidate.finish.is_none() && !candidate.members.iter().any(is_new_piece);
        summary.only_text = candidate.parts.only_text().filter(|_| is_plain);
        if let Err(fault) = state.push_candidate(candidate, out) {
            summary.fault = Some(fault);
        }
    }
    Ok(())
}

/// Returns whether a member of a candidate counts again when it is repeated.
fn is_new_piece((name, raw): &(Cow<'_, str>, &str)) -> bool {
    is_piece(name) && serde_json::from_str::<Value>(raw).is_ok_and(|value| !is_blank(&value))
}

/// Reads a member of the start unless it is known already. Returns whether it is known now and was not before.
fn fill(json: &mut JsonReader<'_>, place: &mut Option<String>) -> Result<bool> {
    if place.is_some() {
        return json.skip().map(|()| false);
    }
    *place = json.non_empty_string()?;
    Ok(place.is_some())
}

fn created(time: &str) -> Option<u64> {
    let time = OffsetDateTime::parse(time, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp()).ok()
}
