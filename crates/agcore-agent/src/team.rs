//! Several agents: sub-agents that are tools, handoffs, and tasks that run side by side.

mod sub_agent;
mod handoff_tool;
mod fan_out;

pub(crate) use self::handoff_tool::handoff_tool;
pub use self::{
    fan_out::{FanOut, Gathered},
    sub_agent::SubAgent,
};

use agcore_chat::Question;

/// Returns the id of the call of a sub-agent that a question is about, if the call of the question is that which asked the
/// sub-agent. With several sub-agents below each other, it is the call of the first one.
///
/// ```
/// use agcore_agent::sub_agent_call;
/// use agcore_chat::{Question, QuestionKind};
///
/// let question = Question::new("call_1", 0, QuestionKind::Approval, "May pay run?");
/// assert_eq!(sub_agent_call(&question), None);
/// ```
pub fn sub_agent_call(question: &Question) -> Option<&str> {
    question.state.get("forwarded")?;
    let asked = question.state.get("context")?.get("question")?.as_str()?;
    asked.rsplit_once('?').map(|(call, _)| call)
}
