//! Models that do not chat, over loopback: whole replies, faults, timeouts, malformed replies, and layers.

mod rerank;
mod support;
