//! The place, the time and the copies of stored messages.

use std::time::{Duration, SystemTime};

use agcore_memory::{
    Timestamp,
    session::{NewMessage, StoredMessage},
};

use crate::durable::Place;

/// Returns the number of the record with which a message was stored.
pub(super) fn record_of(message: &StoredMessage) -> Option<u64> {
    Place::from_id(&message.id).map(|place| place.record)
}

/// Returns a time of the store as one of the system.
pub(super) fn time_of(timestamp: Timestamp) -> SystemTime {
    let millis = u64::try_from(timestamp.as_millis()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
}

/// Returns a message as that of a branch.
pub(super) fn copy_of(message: StoredMessage, index: usize) -> NewMessage {
    let mut copy = NewMessage::new(Place { record: 0, index }.id(), message.role, message.content);
    copy.metadata = message.metadata;
    copy.visibility = message.visibility;
    copy.profile_version = message.profile_version;
    copy
}
