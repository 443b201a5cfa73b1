//! [`CallSchedule`]: decides which calls run side by side. Plain data, without clocks or futures.

use std::collections::VecDeque;

use agcore_chat::{Text, ToolAnnotations};

/// The calls that must not run at the same time as a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Exclusivity {
    /// Whether the call excludes all others.
    pub(super) alone: bool,
    /// The call excludes those with the same key.
    pub(super) key: Option<Text>,
}

impl Exclusivity {
    pub(super) fn from_annotations(annotations: &ToolAnnotations) -> Self {
        Self {
            alone: annotations.destructive == Some(true),
            key: annotations.concurrency_key.clone(),
        }
    }
}

/// The waiting and the running calls of a batch.
///
/// Calls start in the order in which they were added, with two exceptions. A call that must run alone waits until all
/// calls before it have ended, and all calls after it wait for it. A call whose key is in use is overtaken by calls
/// after it.
#[derive(Debug)]
pub(super) struct CallSchedule {
    max_concurrency: usize,
    waiting: VecDeque<(usize, Exclusivity)>,
    running: Vec<(usize, Exclusivity)>,
}

impl CallSchedule {
    /// Creates a schedule for at most `max_concurrency` calls at a time, at least one.
    pub(super) fn new(max_concurrency: usize) -> Self {
        Self {
            max_concurrency: max_concurrency.max(1),
            waiting: VecDeque::new(),
            running: Vec::new(),
        }
    }

    /// Starts a call at once if no other call waits and it may run now. Otherwise returns its exclusivity.
    pub(super) fn start_at_once(&mut self, call: usize, exclusivity: Exclusivity) -> Option<Exclusivity> {
        if !self.waiting.is_empty() || !self.admits_more() {
            return Some(exclusivity);
        }
        let is_free = match &exclusivity {
            Exclusivity { alone: true, .. } => self.running.is_empty(),
            Exclusivity { key, .. } => !key.as_ref().is_some_and(|key| self.is_in_use(key)),
        };
        if !is_free {
            return Some(exclusivity);
        }
        self.running.push((call, exclusivity));
        None
    }

    /// Adds a call to the waiting calls.
    pub(super) fn push(&mut self, call: usize, exclusivity: Exclusivity) {
        self.waiting.push_back((call, exclusivity));
    }

    /// Moves the next call that may run now to the running calls and returns it.
    pub(super) fn start(&mut self) -> Option<usize> {
        let index = self.next_index()?;
        let (call, exclusivity) = self.waiting.remove(index)?;
        self.running.push((call, exclusivity));
        Some(call)
    }

    /// Removes a call that has ended.
    pub(super) fn end(&mut self, call: usize) {
        self.running.retain(|(running, _)| *running != call);
    }

    fn next_index(&self) -> Option<usize> {
        if !self.admits_more() {
            return None;
        }
        for (index, (_, waiting)) in self.waiting.iter().enumerate() {
            if waiting.alone {
                return (index == 0 && self.running.is_empty()).then_some(0);
            }
            if !waiting.key.as_ref().is_some_and(|key| self.is_in_use(key)) {
                return Some(index);
            }
        }
        None
    }

    /// Returns whether any call may start while these run.
    fn admits_more(&self) -> bool {
        self.running.len() < self.max_concurrency && !self.running.iter().any(|(_, running)| running.alone)
    }

    fn is_in_use(&self, key: &Text) -> bool {
        self.running
            .iter()
            .any(|(_, running)| running.key.as_ref() == Some(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schedule of waiting calls: `!` must run alone, any other text is a key.
    fn waiting(max_concurrency: usize, calls: &[&str]) -> CallSchedule {
        let mut schedule = CallSchedule::new(max_concurrency);
        for (call, exclusivity) in calls.iter().enumerate() {
            let exclusivity = match *exclusivity {
                "!" => Exclusivity { alone: true, key: None },
                "" => Exclusivity::default(),
                key => Exclusivity {
                    alone: false,
                    key: Some(key.into()),
                },
            };
            schedule.push(call, exclusivity);
        }
        schedule
    }

    fn started(schedule: &mut CallSchedule) -> Vec<usize> {
        std::iter::from_fn(|| schedule.start()).collect()
    }

    #[test]
    fn calls_with_the_same_key_run_one_by_one_and_are_overtaken() {
        let mut schedule = waiting(9, &["k", "k", "", "k", "l"]);
        assert_eq!(started(&mut schedule), [0, 2, 4]);
        schedule.end(2);
        assert_eq!(started(&mut schedule), [0; 0]);
        schedule.end(0);
        assert_eq!(started(&mut schedule), [1]);
        schedule.end(1);
        assert_eq!(started(&mut schedule), [3]);
    }

    #[test]
    fn a_call_that_must_run_alone_keeps_its_position() {
        let mut schedule = waiting(9, &["", "k", "k", "!", "", "!"]);
        assert_eq!(started(&mut schedule), [0, 1]);
        schedule.end(0);
        schedule.end(1);
        assert_eq!(started(&mut schedule), [2]);
        schedule.end(2);
        assert_eq!(started(&mut schedule), [3]);
        schedule.end(3);
        assert_eq!(started(&mut schedule), [4]);
        schedule.end(4);
        assert_eq!(started(&mut schedule), [5]);
    }

    /// Checks that calls that are queued first end in the same way as those that start at once.
    #[test]
    fn calls_that_start_at_once_are_those_that_would_start_from_the_queue() {
        for number in 0..4_usize.pow(5) {
            let calls: Vec<&str> = (0..5)
                .map(|at| ["", "!", "k", "l"][number / 4_usize.pow(at) % 4])
                .collect();
            for max_concurrency in 1..4 {
                let mut queued = waiting(max_concurrency, &calls);
                let mut direct = CallSchedule::new(max_concurrency);
                let mut all = queued.waiting.clone().into_iter();
                let mut at_once = Vec::new();
                for (call, exclusivity) in all.by_ref() {
                    match direct.start_at_once(call, exclusivity) {
                        None => at_once.push(call),
                        Some(exclusivity) => direct.push(call, exclusivity),
                    }
                }
                at_once.extend(started(&mut direct));
                let mut expected = started(&mut queued);
                loop {
                    at_once.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(at_once, expected, "{calls:?}");
                    let Some(ended) = expected.first() else { break };
                    queued.end(*ended);
                    direct.end(*ended);
                    (at_once, expected) = (started(&mut direct), started(&mut queued));
                }
            }
        }
    }

    #[test]
    fn limits_the_number_of_running_calls() {
        let mut schedule = waiting(2, &["", "", ""]);
        assert_eq!(started(&mut schedule), [0, 1]);
        schedule.end(1);
        assert_eq!(started(&mut schedule), [2]);
        assert_eq!(started(&mut waiting(0, &["", ""])), [0]);
    }
}
