//! [`FlowQuestion`]: a question of a flow in the form in which agents ask.

use agcore_agui::{AnswerError, ResumeEntry};
use agcore_chat::{Question, QuestionKind};
use agcore_flow::Interrupt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::input::FlowAnswer;

/// The run and the question within the flow that a stored question refers to. It is the state of the question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowQuestion {
    /// The run to which the checkpoints of the flow belong.
    pub(crate) run: String,
    /// The id of the question within the flow.
    interrupt: String,
    /// Whether a node asks, and not an agent in it. The node gets the payload of the answer as it is.
    is_of_node: bool,
}

impl FlowQuestion {
    /// Returns a question of a flow as a question with an id that is unique in the session. `run` is the run to which the
    /// checkpoints of the flow belong.
    pub(crate) fn ask(run: &str, interrupt: &Interrupt) -> Question {
        let asked = serde_json::from_value::<Question>(interrupt.prompt.clone()).ok();
        let is_of_node = asked.is_none();
        let mut question = asked.unwrap_or_else(|| {
            let prompt = match &interrupt.prompt {
                Value::String(prompt) => prompt.clone(),
                other => other.to_string(),
            };
            let mut question = Question::new("", 0, QuestionKind::Input, prompt);
            question.tool = interrupt.node.as_str().into();
            question
        });
        question.id = format!("{run}:{}", interrupt.id).into();
        question.state = json!(Self {
            run: run.to_owned(),
            interrupt: interrupt.id.clone(),
            is_of_node,
        });
        question
    }

    /// Returns what a stored question refers to; `None` if no flow has asked it.
    pub(crate) fn of(question: &Question) -> Option<Self> {
        Self::deserialize(&question.state).ok()
    }

    /// Returns the answer of a client.
    ///
    /// # Errors
    /// When the answer does not fit the question.
    pub(crate) fn answer(self, question: &Question, entry: &ResumeEntry) -> Result<FlowAnswer, AnswerError> {
        let given = entry.to_answer(question.kind)?;
        let answer = match (&entry.payload, self.is_of_node) {
            (Some(payload), true) => payload.clone(),
            _ => serde_json::to_value(given).unwrap_or_default(),
        };
        Ok(FlowAnswer {
            question: question.id.to_string(),
            interrupt: self.interrupt,
            answer,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interrupt(prompt: Value) -> Interrupt {
        let value = json!({"id": "0:pay#1:q", "node": "pay", "branch": "0", "key": "q", "prompt": prompt});
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn questions_of_agents_keep_their_form() {
        let asked = Question::new("call_1", 0, QuestionKind::Approval, "May it run?").with_tool("pay");
        let question = FlowQuestion::ask("r1", &interrupt(serde_json::to_value(&asked).unwrap()));
        assert_eq!(
            (&*question.id.0, &*question.call_id, &*question.tool),
            ("r1:0:pay#1:q", "call_1", "pay")
        );
        let answer = FlowQuestion::of(&question)
            .unwrap()
            .answer(
                &question,
                &ResumeEntry::resolved("r1:0:pay#1:q", json!({"approved": true})),
            )
            .unwrap();
        assert_eq!(answer.interrupt, "0:pay#1:q");
        assert_eq!(answer.answer, json!({"approve": {"scope": "once"}}));
        assert!(FlowQuestion::of(&asked).is_none());
    }

    #[test]
    fn nodes_get_the_payload() {
        let question = FlowQuestion::ask("r1", &interrupt(json!("Publish?")));
        assert_eq!((&*question.prompt, question.kind), ("Publish?", QuestionKind::Input));
        let flow = FlowQuestion::of(&question).unwrap();
        let answer = flow
            .clone()
            .answer(&question, &ResumeEntry::resolved("q", json!("yes")));
        assert_eq!(answer.unwrap().answer, json!("yes"));
        let mut empty = ResumeEntry::resolved("q", json!(null));
        empty.payload = None;
        assert!(flow.answer(&question, &empty).is_err());
    }
}
