//! [`Scenario`]: how the server behind a provider shall behave.

use agcore_chat::Fault;

use super::answer::Answer;

/// How the server behind a provider shall behave, to every request alike, as often as it is asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Scenario {
    /// It gives this answer.
    Answer(Box<Answer>),
    /// It answers with the text of the request's last message.
    Echo,
    /// It refuses before anything of an answer.
    Refuse(Fault),
    /// It begins a streamed answer with this text and then reports an error inside of it. Asked of streams only.
    FailAfter {
        /// What is said before.
        text: String,
        /// What is reported.
        fault: Fault,
    },
    /// It sends this text, neither a finish reason nor an end, and the connection closes. A whole answer breaks off in
    /// its middle.
    CutAfter {
        /// What is said before.
        text: String,
    },
    /// It takes the request and closes the connection without a word.
    HangUp,
    /// It sends this text and then something that is nothing of its API. A whole answer is such a thing altogether.
    Garble {
        /// What is said before.
        text: String,
    },
    /// It takes the request and is silent until the client leaves.
    Stall,
    /// It sends this text and is then silent until the client leaves. A whole answer is begun, and not ended.
    StallAfter {
        /// What is said before.
        text: String,
    },
}

impl Scenario {
    /// A server that gives this answer.
    pub fn answer(answer: Answer) -> Self {
        Self::Answer(Box::new(answer))
    }
}
