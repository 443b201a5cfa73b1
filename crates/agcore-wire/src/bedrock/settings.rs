//! [`Settings`]: the settings of the wire that do not depend on a request.

use std::borrow::Cow;

use super::vendor::VENDOR;

/// The settings of the wire.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) vendor: Cow<'static, str>,
    /// Whether the wire places cache points by itself.
    pub(super) automatic_caching: bool,
    /// The id of the model behind an inference profile whose name does not show it.
    pub(super) model: Option<Box<str>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            vendor: Cow::Borrowed(VENDOR),
            automatic_caching: false,
            model: None,
        }
    }
}
