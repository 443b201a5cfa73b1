//! Events of a stream: the payloads of its messages.

use agcore_chat::Text;
use serde_json::{Result, Value};

use super::{
    block::{Block, Piece},
    message::{Metadata, is_padding},
};
use crate::decode::json::JsonReader;

/// An event.
#[derive(Debug)]
pub(super) enum Event {
    MessageStart,
    /// The start of a block. Texts and reasoning begin without one.
    BlockStart {
        index: u32,
        block: Option<Block>,
    },
    BlockPiece {
        index: u32,
        piece: Piece,
    },
    BlockStop {
        index: u32,
    },
    MessageStop {
        reason: Option<Text>,
        members: Vec<(Box<str>, Value)>,
    },
    Metadata(Metadata),
    /// An event of a type that is not known.
    Other,
}

/// Reads an event of a type.
pub(super) fn read(kind: &str, payload: &[u8]) -> Result<Event> {
    let mut json = JsonReader::from_bytes(payload)?;
    let event = match kind {
        "messageStart" => json.skip().map(|()| Event::MessageStart),
        "contentBlockStart" => read_start(&mut json),
        "contentBlockDelta" => read_piece(&mut json),
        "contentBlockStop" => read_stop(&mut json),
        "messageStop" => read_message_stop(&mut json),
        "metadata" => Metadata::read(&mut json).map(Event::Metadata),
        _ => return Ok(Event::Other),
    }?;
    json.end()?;
    Ok(event)
}

fn read_start(json: &mut JsonReader<'_>) -> Result<Event> {
    let (mut index, mut block, mut members) = (0, None, json.object("the start of a content block")?);
    while let Some(name) = json.next_name(&mut members)? {
        match &*name {
            "contentBlockIndex" => index = read_index(json)?,
            "start" => block = Block::read(json)?,
            _ => json.skip()?,
        }
    }
    Ok(Event::BlockStart { index, block })
}

fn read_piece(json: &mut JsonReader<'_>) -> Result<Event> {
    let (mut index, mut piece, mut members) = (0, Piece::default(), json.object("a piece of a content block")?);
    while let Some(name) = json.next_name(&mut members)? {
        match &*name {
            "contentBlockIndex" => index = read_index(json)?,
            "delta" => piece = Piece::read(json)?,
            _ => json.skip()?,
        }
    }
    Ok(Event::BlockPiece { index, piece })
}

fn read_stop(json: &mut JsonReader<'_>) -> Result<Event> {
    let (mut index, mut members) = (0, json.object("the end of a content block")?);
    while let Some(name) = json.next_name(&mut members)? {
        match &*name {
            "contentBlockIndex" => index = read_index(json)?,
            _ => json.skip()?,
        }
    }
    Ok(Event::BlockStop { index })
}

fn read_message_stop(json: &mut JsonReader<'_>) -> Result<Event> {
    let (mut reason, mut others, mut members) = (None, Vec::new(), json.object("the end of a message")?);
    while let Some(name) = json.next_name(&mut members)? {
        match &*name {
            "stopReason" => reason = json.text()?,
            member if is_padding(member) => json.skip()?,
            other => others.push((other.into(), json.value()?)),
        }
    }
    Ok(Event::MessageStop {
        reason,
        members: others,
    })
}

fn read_index(json: &mut JsonReader<'_>) -> Result<u32> {
    let index = json.count()?;
    Ok(index.and_then(|index| u32::try_from(index).ok()).unwrap_or(0))
}
