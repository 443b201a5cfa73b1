//! Compares the machine with the model.

use agcore_chat::{Message, ToolCall};
use agcore_cycle::machine::{Machine, Purpose, Step};

use super::{Model, Overflow, Phase, Settled};

impl Model {
    /// Checks that the machine agrees with the model.
    pub(in crate::machine::random) fn check(&self, machine: &Machine) {
        let ids = |calls: Vec<&ToolCall>| calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
        assert_eq!(machine.is_open(), self.is_open());
        assert_eq!(machine.round(), self.rounds);
        assert_eq!(ids(machine.uncertain().collect()), self.running());
        assert_eq!(
            machine.pending_summary().map(|compact| compact.reason),
            self.summing.map(|(reason, _)| reason)
        );
        if self.summing.is_some() {
            let Step::Call(plan) = machine.next() else {
                panic!("{:?}", machine.next())
            };
            assert_eq!(plan.purpose, Purpose::Summary);
            agcore_chat::validate_messages(&plan.messages()).expect("the summarized messages are valid");
            return;
        }
        match machine.next() {
            Step::Shorten(_) => {
                assert!(self.overflow == Overflow::Due && matches!(self.phase, Phase::Calling(_)));
            }
            Step::Check(draft) => {
                assert!(self.is_checking());
                assert_eq!(
                    draft.call.map(|call| &call.id),
                    self.checked_call().map(|call| &call.id)
                );
                assert_eq!(draft.is_cut, self.is_cut);
            }
            Step::Idle => assert_eq!(self.phase, Phase::Idle),
            Step::Call(plan) => {
                assert_eq!(Phase::Calling(plan.purpose), self.phase);
                assert_ne!(self.overflow, Overflow::Due);
                let messages = plan.messages();
                agcore_chat::validate_messages(&messages).expect("the sent messages are valid");
                assert!(
                    self.is_paused == matches!(**messages.last().unwrap(), Message::Assistant(_)),
                    "there is nothing to answer"
                );
            }
            Step::Run(work) => {
                assert!(self.phase == Phase::Acting && !self.is_checking());
                assert_eq!(ids(work.iter().map(|work| &*work.call).collect()), self.ready());
                assert!(
                    !work.is_empty() || !self.running().is_empty(),
                    "no call runs and none can start"
                );
                for work in &work {
                    let call = self.calls.iter().find(|call| call.id == work.call.id).unwrap();
                    assert_eq!(work.resumed.as_deref(), call.resumed.as_ref());
                    assert!(!self.settled.contains(&call.id), "{} already has a result", call.id);
                }
            }
            Step::Wait(questions) => {
                assert!(self.phase == Phase::Acting && self.ready().is_empty() && self.running().is_empty());
                let asking: Vec<_> = questions.iter().map(|question| question.call_id.to_string()).collect();
                assert_eq!(asking, self.asking());
                assert!(!asking.is_empty());
            }
            Step::End(end) => {
                let json = serde_json::to_value(end).unwrap();
                let how = json
                    .as_str()
                    .or_else(|| json.as_object()?.keys().next().map(String::as_str));
                assert_eq!(
                    Phase::Ended(LABELS.iter().find(|label| Some(**label) == how).unwrap()),
                    self.phase
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The ways in which turns end.
const LABELS: [&str; 5] = ["answered", "diverted", "failed", "stopped", "limit"];

/// Returns whether a tool message contains the expected result.
pub(in crate::machine::random) fn contains_result(message: &Message, settled: &Settled, limit: usize) -> bool {
    let Message::Tool(result) = message else {
        return false;
    };
    let text = message.text();
    match settled {
        // The reply of a person about an uncertain call is truncated like any result.
        Settled::Failed(reason) => {
            result.marks.is_error && (text.contains(reason) || (limit <= 80 && text.len() <= limit))
        }
        Settled::Accepted => !result.marks.is_error && text == "The answer was accepted.",
        Settled::As(expected) => {
            let whole = expected.content.text();
            let fits = if whole.len() <= limit {
                result.content == expected.content
            } else {
                text.len() <= limit
            };
            fits && result.marks.is_error == expected.is_error
        }
    }
}
