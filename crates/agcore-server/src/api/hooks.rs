//! The JSON forms of deliveries to hooks.

use schemars::JsonSchema;
use serde::Serialize;

/// The result of a delivery.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryAnswer {
    /// The result.
    pub(crate) status: DeliveryStatus,
    /// The id of the thread of its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thread_id: Option<String>,
    /// The id of its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// The text that Slack wants back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) challenge: Option<String>,
    /// A remark about a delivery that was repeated with another body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'static str>,
}

/// The result of a delivery.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeliveryStatus {
    /// It has started a run.
    Started,
    /// A delivery with its id has started the run before.
    Repeated,
    /// It is of an event that starts no runs.
    Ignored,
    /// The sender has asked whether the hook is there.
    Ready,
}

impl DeliveryAnswer {
    /// Creates an answer without a run.
    pub(crate) fn new(status: DeliveryStatus) -> Self {
        Self {
            status,
            thread_id: None,
            run_id: None,
            challenge: None,
            note: None,
        }
    }
}
