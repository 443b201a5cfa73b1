//! How deep templates may nest.

/// Levels of blocks and partials together.
pub(super) const MAX_DEPTH: usize = 16;
