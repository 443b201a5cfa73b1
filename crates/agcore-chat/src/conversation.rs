//! The messages of a conversation, the media in them, and the order in which they may follow each other.

pub(crate) mod assistant;
pub(crate) mod message;
pub(crate) mod media;
pub(crate) mod sequence;
