//! [`Lanes`]: what runs side by side. Plain data, no clock, no future.

use std::collections::VecDeque;

use agcore_chat::Text;

use crate::tool::ToolAnnotations;

/// What a call needs of its neighbours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Need {
    /// That there are none.
    pub(super) alone: bool,
    /// That none of them has this key.
    pub(super) key: Option<Text>,
}

impl Need {
    pub(super) fn of(annotations: &ToolAnnotations) -> Self {
        Self {
            alone: annotations.destructive == Some(true),
            key: annotations.concurrency_key.clone(),
        }
    }
}

/// Calls that wait for their turn and calls that run.
///
/// Calls begin in the order in which they came, as far as their needs allow: one that must be alone waits until all
/// before it have ended, and all behind it wait for it; one whose key is taken lets others pass.
#[derive(Debug)]
pub(super) struct Lanes {
    most: usize,
    waiting: VecDeque<(usize, Need)>,
    running: Vec<(usize, Need)>,
}

impl Lanes {
    /// Lanes for so many calls at a time, at least one.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            waiting: VecDeque::new(),
            running: Vec::new(),
        }
    }

    /// A call waits for its turn.
    pub(super) fn wait(&mut self, call: usize, need: Need) {
        self.waiting.push_back((call, need));
    }

    /// Takes the next call that may begin now.
    pub(super) fn begin(&mut self) -> Option<usize> {
        let place = self.next_place()?;
        let (call, need) = self.waiting.remove(place)?;
        self.running.push((call, need));
        Some(call)
    }

    /// A call has ended.
    pub(super) fn end(&mut self, call: usize) {
        self.running.retain(|(running, _)| *running != call);
    }

    fn next_place(&self) -> Option<usize> {
        if self.running.len() >= self.most || self.running.iter().any(|(_, need)| need.alone) {
            return None;
        }
        for (place, (_, need)) in self.waiting.iter().enumerate() {
            if need.alone {
                return (place == 0 && self.running.is_empty()).then_some(0);
            }
            if !need.key.as_ref().is_some_and(|key| self.is_taken(key)) {
                return Some(place);
            }
        }
        None
    }

    fn is_taken(&self, key: &Text) -> bool {
        self.running.iter().any(|(_, need)| need.key.as_ref() == Some(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(most: usize, needs: &[&str]) -> Lanes {
        let mut lanes = Lanes::new(most);
        for (call, need) in needs.iter().enumerate() {
            let need = match *need {
                "!" => Need { alone: true, key: None },
                "" => Need::default(),
                key => Need {
                    alone: false,
                    key: Some(key.into()),
                },
            };
            lanes.wait(call, need);
        }
        lanes
    }

    fn begun(lanes: &mut Lanes) -> Vec<usize> {
        std::iter::from_fn(|| lanes.begin()).collect()
    }

    #[test]
    fn calls_with_one_key_go_one_by_one_and_let_others_pass() {
        let mut lanes = waiting(9, &["k", "k", "", "k", "l"]);
        assert_eq!(begun(&mut lanes), [0, 2, 4]);
        lanes.end(2);
        assert_eq!(begun(&mut lanes), [0; 0]);
        lanes.end(0);
        assert_eq!(begun(&mut lanes), [1]);
        lanes.end(1);
        assert_eq!(begun(&mut lanes), [3]);
    }

    #[test]
    fn a_destructive_call_is_alone_and_keeps_its_place() {
        let mut lanes = waiting(9, &["", "k", "k", "!", "", "!"]);
        assert_eq!(begun(&mut lanes), [0, 1]);
        lanes.end(0);
        lanes.end(1);
        assert_eq!(begun(&mut lanes), [2]);
        lanes.end(2);
        assert_eq!(begun(&mut lanes), [3]);
        lanes.end(3);
        assert_eq!(begun(&mut lanes), [4]);
        lanes.end(4);
        assert_eq!(begun(&mut lanes), [5]);
    }

    #[test]
    fn never_more_than_allowed() {
        let mut lanes = waiting(2, &["", "", ""]);
        assert_eq!(begun(&mut lanes), [0, 1]);
        lanes.end(1);
        assert_eq!(begun(&mut lanes), [2]);
        assert_eq!(begun(&mut waiting(0, &["", ""])), [0]);
    }
}
