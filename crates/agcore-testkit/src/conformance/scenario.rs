//! [`Scenario`]: the script for the server of a provider.

use agcore_chat::Fault;

use super::answer::Answer;

/// A script for the server of a provider: its response to every request, any number of times.
///
/// ```
/// use agcore_testkit::conformance::{Answer, Scenario};
///
/// let scenario = Scenario::answer(Answer::text("Hello"));
/// assert!(matches!(scenario, Scenario::Answer(answer) if answer.message.text() == "Hello"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Scenario {
    /// Replies with this answer.
    Answer(Box<Answer>),
    /// Replies with the text of the last message of the request.
    Echo,
    /// Replies with an error and no content.
    Refuse(Fault),
    /// Starts a streamed answer with this text and then reports an error within the stream. Used for streams only.
    FailAfter {
        /// The text sent before the error.
        text: String,
        /// The reported error.
        fault: Fault,
    },
    /// Sends this text and closes the connection, without a finish reason or a terminal marker. A whole answer is cut
    /// off in the middle.
    CutAfter {
        /// The text sent before the cut.
        text: String,
    },
    /// Accepts the request and closes the connection without a reply.
    HangUp,
    /// Sends this text and then data that is invalid in its API. A whole answer is invalid altogether.
    Garble {
        /// The text sent before the invalid data.
        text: String,
    },
    /// Accepts the request and sends nothing until the client disconnects.
    Stall,
    /// Sends this text and then nothing more until the client disconnects. A whole answer is started but not completed.
    StallAfter {
        /// The text sent before the stall.
        text: String,
    },
}

impl Scenario {
    /// Creates a scenario in which the server replies with this answer.
    pub fn answer(answer: Answer) -> Self {
        Self::Answer(Box::new(answer))
    }
}
