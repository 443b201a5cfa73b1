//! [`RecordedItem`]: an item of a recorded reply and its JSON form.

use std::time::Duration;

use agcore_chat::{AnsweredBy, Fault, FinishReason, ResponseMetadata, Text, Usage, VendorData};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;

use super::{block::BlockJson, fragment::FragmentJson, millis};
use crate::reply::{Notice, ReplyItem};
use agcore_wire::{Place, ReplyDelta, ReplyStart, SealedBlock};

/// An item of a recorded reply. Its end is recorded separately, as an [`Ending`](super::Ending).
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedItem {
    /// A part of the reply.
    Delta(ReplyDelta),
    /// Information about the call that is not part of the reply.
    Notice(Notice),
}

impl From<RecordedItem> for ReplyItem {
    fn from(item: RecordedItem) -> Self {
        match item {
            RecordedItem::Delta(delta) => Self::Delta(delta),
            RecordedItem::Notice(notice) => Self::Notice(notice),
        }
    }
}

impl Serialize for RecordedItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = ItemJson::from_item(self.clone());
        let json = json.ok_or_else(|| ser::Error::custom("cassettes cannot represent this kind of item"))?;
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RecordedItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = ItemJson::deserialize(deserializer)?;
        json.into_item().map_err(de::Error::custom)
    }
}

/// The JSON form of an item: its choice, unless that is the first one, and one member named after its kind.
#[derive(Serialize, Deserialize)]
struct ItemJson {
    #[serde(default, skip_serializing_if = "is_first")]
    choice: u32,
    #[serde(flatten)]
    kind: Kind,
}

fn is_first(choice: &u32) -> bool {
    *choice == 0
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Start(StartJson),
    Text(Text),
    Reasoning(Text),
    Refusal(Text),
    Call(Box<FragmentJson>),
    Seal {
        block: SealedJson,
        vendor: Box<VendorData>,
    },
    BlockEnd(bool),
    Item(u32),
    Move {
        from: u32,
        to: u32,
    },
    Restart(bool),
    Block(Box<BlockJson>),
    Usage(Box<Usage>),
    Finish(FinishReason),
    Member {
        place: PlaceJson,
        name: Box<str>,
        value: Value,
    },
    Retry {
        attempt: u32,
        #[serde(rename = "delay_ms", with = "millis")]
        delay: Duration,
        fault: Fault,
    },
    Restarted {
        fault: Fault,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Box<Usage>>,
    },
    AnsweredBy(AnsweredBy),
    Waiting {
        limit: Text,
        #[serde(rename = "delay_ms", with = "millis")]
        delay: Duration,
    },
}

#[derive(Serialize, Deserialize)]
struct StartJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_fingerprint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    service_tier: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    headers: Option<ResponseMetadata>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SealedJson {
    Reasoning,
    Text,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PlaceJson {
    Response,
    Choice,
    Message,
}

impl ItemJson {
    /// Returns the JSON form of an item, or `None` if it is or contains a block of an unknown kind.
    fn from_item(item: RecordedItem) -> Option<Self> {
        let first = |kind| Self { choice: 0, kind };
        let at = |choice, kind| Self { choice, kind };
        Some(match item {
            RecordedItem::Notice(notice) => first(notice_kind(notice)),
            RecordedItem::Delta(delta) => match delta {
                ReplyDelta::Start(start) => first(Kind::Start((*start).into())),
                ReplyDelta::Usage(usage) => first(Kind::Usage(usage)),
                ReplyDelta::Text { choice, text } => at(choice, Kind::Text(text)),
                ReplyDelta::Reasoning { choice, text } => at(choice, Kind::Reasoning(text)),
                ReplyDelta::Refusal { choice, text } => at(choice, Kind::Refusal(text)),
                ReplyDelta::Restart => first(Kind::Restart(true)),
                ReplyDelta::BlockEnd { choice } => at(choice, Kind::BlockEnd(true)),
                ReplyDelta::Item { choice, position } => at(choice, Kind::Item(position)),
                ReplyDelta::Move { choice, from, to } => at(choice, Kind::Move { from, to }),
                ReplyDelta::Finish { choice, reason } => at(choice, Kind::Finish(reason)),
                ReplyDelta::Call { choice, fragment } => {
                    let kind = Kind::Call(Box::new((*fragment).into()));
                    Self { choice, kind }
                }
                ReplyDelta::Block { choice, block } => {
                    let kind = Kind::Block(Box::new(BlockJson::from_block(*block)?));
                    Self { choice, kind }
                }
                ReplyDelta::Seal { choice, block, vendor } => {
                    let block = block.into();
                    Self {
                        choice,
                        kind: Kind::Seal { block, vendor },
                    }
                }
                ReplyDelta::Member { place, name, value } => {
                    let (choice, place) = match place {
                        Place::Response => (0, PlaceJson::Response),
                        Place::Choice(choice) => (choice, PlaceJson::Choice),
                        Place::Message(choice) => (choice, PlaceJson::Message),
                    };
                    Self {
                        choice,
                        kind: Kind::Member { place, name, value },
                    }
                }
                _ => return None,
            },
        })
    }

    /// Converts the JSON form into an item.
    ///
    /// # Errors
    /// If a flag is `false`.
    fn into_item(self) -> Result<RecordedItem, &'static str> {
        let Self { choice, kind } = self;
        Ok(RecordedItem::Delta(match kind {
            Kind::Start(start) => ReplyDelta::Start(Box::new(start.into())),
            Kind::Text(text) => ReplyDelta::Text { choice, text },
            Kind::Reasoning(text) => ReplyDelta::Reasoning { choice, text },
            Kind::Refusal(text) => ReplyDelta::Refusal { choice, text },
            Kind::Call(fragment) => {
                let fragment = Box::new((*fragment).into());
                ReplyDelta::Call { choice, fragment }
            }
            Kind::Seal { block, vendor } => {
                let block = block.into();
                ReplyDelta::Seal { choice, block, vendor }
            }
            Kind::BlockEnd(true) => ReplyDelta::BlockEnd { choice },
            Kind::Item(position) => ReplyDelta::Item { choice, position },
            Kind::Move { from, to } => ReplyDelta::Move { choice, from, to },
            Kind::Restart(true) => ReplyDelta::Restart,
            Kind::BlockEnd(false) | Kind::Restart(false) => return Err("`block_end` and `restart` must be true"),
            Kind::Block(block) => {
                let block = Box::new((*block).into());
                ReplyDelta::Block { choice, block }
            }
            Kind::Usage(usage) => ReplyDelta::Usage(usage),
            Kind::Finish(reason) => ReplyDelta::Finish { choice, reason },
            Kind::Member { place, name, value } => {
                let place = match place {
                    PlaceJson::Response => Place::Response,
                    PlaceJson::Choice => Place::Choice(choice),
                    PlaceJson::Message => Place::Message(choice),
                };
                ReplyDelta::Member { place, name, value }
            }
            Kind::Retry { attempt, delay, fault } => {
                return Ok(RecordedItem::Notice(Notice::RetryScheduled { attempt, delay, fault }));
            }
            Kind::Restarted { fault, usage } => {
                return Ok(RecordedItem::Notice(Notice::Restarted { fault, usage }));
            }
            Kind::AnsweredBy(provider) => return Ok(RecordedItem::Notice(Notice::AnsweredBy(provider))),
            Kind::Waiting { limit, delay } => {
                return Ok(RecordedItem::Notice(Notice::Waiting { limit, delay }));
            }
        }))
    }
}

fn notice_kind(notice: Notice) -> Kind {
    match notice {
        Notice::RetryScheduled { attempt, delay, fault } => Kind::Retry { attempt, delay, fault },
        Notice::Restarted { fault, usage } => Kind::Restarted { fault, usage },
        Notice::AnsweredBy(provider) => Kind::AnsweredBy(provider),
        Notice::Waiting { limit, delay } => Kind::Waiting { limit, delay },
    }
}

impl From<ReplyStart> for StartJson {
    fn from(start: ReplyStart) -> Self {
        Self {
            id: start.id,
            model: start.model,
            created: start.created,
            system_fingerprint: start.system_fingerprint,
            service_tier: start.service_tier,
            headers: start.metadata,
        }
    }
}

impl From<StartJson> for ReplyStart {
    fn from(json: StartJson) -> Self {
        Self {
            id: json.id,
            model: json.model,
            created: json.created,
            system_fingerprint: json.system_fingerprint,
            service_tier: json.service_tier,
            metadata: json.headers,
        }
    }
}

impl From<SealedBlock> for SealedJson {
    fn from(block: SealedBlock) -> Self {
        match block {
            SealedBlock::Reasoning => Self::Reasoning,
            SealedBlock::Text => Self::Text,
        }
    }
}

impl From<SealedJson> for SealedBlock {
    fn from(json: SealedJson) -> Self {
        match json {
            SealedJson::Reasoning => Self::Reasoning,
            SealedJson::Text => Self::Text,
        }
    }
}
