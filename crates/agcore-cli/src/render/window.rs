//! The window's width.

use terminal_size::{Width, terminal_size};

/// Columns where there is no window.
const DEFAULT: usize = 120;

/// The columns of the window, asked anew each time: it may have been resized.
pub(super) fn columns() -> usize {
    terminal_size().map_or(DEFAULT, |(Width(width), _)| usize::from(width).max(1))
}
