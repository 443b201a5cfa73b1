//! The form in which a log keeps an [`AguiEvent`].

use agcore_chat::Text;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{AguiEvent, EventType, members::Members};

/// The version that is written.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    #[serde(rename = "type")]
    kind: EventType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timestamp: Option<u64>,
    #[serde(default, rename = "subagentRunId", skip_serializing_if = "Option::is_none")]
    subagent: Option<Text>,
    #[serde(default, skip_serializing_if = "Members::is_empty")]
    members: Members,
    #[serde(default, skip_serializing_if = "Members::is_empty")]
    own: Members,
    #[serde(default, skip_serializing_if = "Members::is_empty")]
    kept: Members,
}

impl Serialize for AguiEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Cloning the members would cost more than writing them.
        #[derive(Serialize)]
        struct Borrowed<'a> {
            version: u32,
            #[serde(rename = "type")]
            kind: EventType,
            #[serde(skip_serializing_if = "Option::is_none")]
            timestamp: Option<u64>,
            #[serde(rename = "subagentRunId", skip_serializing_if = "Option::is_none")]
            subagent: Option<&'a Text>,
            #[serde(skip_serializing_if = "Members::is_empty")]
            members: &'a Members,
            #[serde(skip_serializing_if = "Members::is_empty")]
            own: &'a Members,
            #[serde(skip_serializing_if = "Members::is_empty")]
            kept: &'a Members,
        }
        Borrowed {
            version: VERSION,
            kind: self.kind,
            timestamp: self.timestamp,
            subagent: self.subagent.as_ref(),
            members: &self.members,
            own: &self.own,
            kept: &self.kept,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AguiEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        if stored.version > VERSION {
            return Err(D::Error::custom(format!(
                "the stored event has version {}, but this program reads versions up to {VERSION}; update the program",
                stored.version
            )));
        }
        Ok(Self {
            kind: stored.kind,
            timestamp: stored.timestamp,
            subagent: stored.subagent,
            members: stored.members,
            own: stored.own,
            kept: stored.kept,
        })
    }
}
