//! Models that do not chat, over loopback: whole replies, faults, timeouts, malformed replies, and layers.

mod images;
mod rerank;
mod speech;
mod support;
mod transcription;
mod video;
