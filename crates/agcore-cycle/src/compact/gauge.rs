//! [`Gauge`]: the messages of the newest request, and the estimated tokens of requests.

use std::sync::Arc;

use agcore_chat::{Message, Messages, TokenEstimator};

/// Builds the list of messages of each request from the previous one, and estimates its tokens. Usually the previous request
/// is its start, so that only new messages are added and counted. Messages are recognized by their allocation.
#[derive(Clone, Default)]
pub(crate) struct Gauge {
    /// The messages of the newest request. The list is not shared any more once the request is done.
    messages: Messages,
    tokens: Counts,
    bounds: Bounds,
    /// The estimator whose counts these are.
    estimator: Option<Arc<dyn TokenEstimator>>,
}

/// The tokens of the first messages of a list.
#[derive(Clone, Default)]
struct Counts {
    each: Vec<u64>,
    /// Wide enough for the sum of any number of counts.
    sum: u128,
}

/// The upper bound of the tokens of the first messages of a list. It is so cheap to compute that those of single messages are
/// not kept.
#[derive(Clone, Default)]
struct Bounds {
    messages: usize,
    sum: u128,
}

impl Gauge {
    /// Sets the estimator.
    pub(crate) fn set_estimator(&mut self, estimator: &Arc<dyn TokenEstimator>) {
        let is_same = |known: &Arc<dyn TokenEstimator>| Arc::ptr_eq(known, estimator);
        if !self.estimator.as_ref().is_some_and(is_same) {
            self.tokens = Counts::default();
            self.bounds = Bounds::default();
            self.estimator = Some(Arc::clone(estimator));
        }
    }

    /// Returns the messages of a request, which consists of these parts.
    pub(crate) fn messages(&mut self, parts: &[&[Arc<Message>]]) -> Messages {
        self.update(parts);
        self.messages.clone()
    }

    /// Returns the tokens of the messages of a request, which consists of these parts.
    pub(crate) fn tokens(&mut self, parts: &[&[Arc<Message>]]) -> u64 {
        self.update(parts);
        let Some(estimator) = &self.estimator else {
            return u64::MAX;
        };
        self.tokens.total(&self.messages, &**estimator)
    }

    /// Returns an upper bound of the tokens of the messages of a request, computed from their sizes alone. It is `u64::MAX` if
    /// the estimator has no upper bound.
    pub(crate) fn max_tokens(&mut self, parts: &[&[Arc<Message>]]) -> u64 {
        self.update(parts);
        let Some(estimator) = &self.estimator else {
            return u64::MAX;
        };
        self.bounds.total(&self.messages, UpperBound(&**estimator))
    }

    /// Makes these parts the messages of the newest request.
    fn update(&mut self, parts: &[&[Arc<Message>]]) {
        let mut at = 0;
        for part in parts {
            let mut part = *part;
            loop {
                let same = same_start(self.messages.get(at..).unwrap_or_default(), part);
                at += same;
                part = &part[same..];
                let Some((message, rest)) = part.split_first() else {
                    break;
                };
                if at == self.messages.len() {
                    self.messages.extend_from_slice(part);
                    at += part.len();
                    break;
                }
                self.replace(at, message);
                at += 1;
                part = rest;
            }
        }
        if at < self.messages.len() {
            if let Some(estimator) = &self.estimator {
                self.bounds.truncate(at, &self.messages, UpperBound(&**estimator));
            }
            self.tokens.truncate(at);
            self.messages.truncate(at);
        }
    }

    fn replace(&mut self, at: usize, message: &Arc<Message>) {
        if let Some(estimator) = &self.estimator {
            self.bounds
                .replace(at, &self.messages, message, UpperBound(&**estimator));
            self.tokens.replace(at, message, &**estimator);
        }
        self.messages[at] = Arc::clone(message);
    }
}

impl Counts {
    /// Returns the sum, after counting the messages that are not counted yet.
    fn total(&mut self, messages: &[Arc<Message>], estimator: &dyn TokenEstimator) -> u64 {
        let counted = self.each.len();
        let new = messages[counted..].iter().map(|message| estimator.message(message));
        self.each.extend(new);
        self.sum += sum(&self.each[counted..]);
        u64::try_from(self.sum).unwrap_or(u64::MAX)
    }

    /// Counts a message again, unless it is not counted yet.
    fn replace(&mut self, at: usize, message: &Message, estimator: &dyn TokenEstimator) {
        if let Some(tokens) = self.each.get_mut(at) {
            self.sum -= u128::from(*tokens);
            *tokens = estimator.message(message);
            self.sum += u128::from(*tokens);
        }
    }

    fn truncate(&mut self, count: usize) {
        if let Some(removed) = self.each.get(count..) {
            self.sum -= sum(removed);
            self.each.truncate(count);
        }
    }
}

impl Bounds {
    /// Returns the sum, after adding the messages that are not counted yet.
    fn total(&mut self, messages: &[Arc<Message>], bound: UpperBound<'_>) -> u64 {
        self.sum += bound.sum(&messages[self.messages..]);
        self.messages = messages.len();
        u64::try_from(self.sum).unwrap_or(u64::MAX)
    }

    /// Replaces one of the messages, unless it is not counted yet.
    fn replace(&mut self, at: usize, messages: &[Arc<Message>], new: &Message, bound: UpperBound<'_>) {
        if at < self.messages {
            self.sum -= u128::from(bound.message(&messages[at]));
            self.sum += u128::from(bound.message(new));
        }
    }

    fn truncate(&mut self, count: usize, messages: &[Arc<Message>], bound: UpperBound<'_>) {
        if let Some(removed) = messages[..self.messages].get(count..) {
            self.sum -= bound.sum(removed);
            self.messages = count;
        }
    }
}

fn sum(tokens: &[u64]) -> u128 {
    tokens.iter().copied().map(u128::from).sum()
}

/// Returns the number of messages at the start of both lists that are the same. Compares blocks without branches, because
/// nearly always all of them are the same.
fn same_start(known: &[Arc<Message>], messages: &[Arc<Message>]) -> usize {
    const BLOCK: usize = 16;
    let is_same = |(known, message): (&Arc<Message>, &Arc<Message>)| Arc::ptr_eq(known, message);
    let blocks = known.chunks_exact(BLOCK).zip(messages.chunks_exact(BLOCK));
    let same = blocks.take_while(|(known, messages)| {
        let pairs = known.iter().zip(*messages);
        pairs.fold(true, |same, pair| same & is_same(pair))
    });
    let start = same.count() * BLOCK;
    let rest = known[start..].iter().zip(&messages[start..]);
    start + rest.take_while(|pair| is_same(*pair)).count()
}

/// Replaces the tokens of each text by their upper bound.
#[derive(Clone, Copy)]
pub(super) struct UpperBound<'a>(pub(super) &'a dyn TokenEstimator);

impl UpperBound<'_> {
    fn sum(self, messages: &[Arc<Message>]) -> u128 {
        messages.iter().map(|message| u128::from(self.message(message))).sum()
    }
}

impl TokenEstimator for UpperBound<'_> {
    fn text(&self, text: &str) -> u64 {
        self.0.text_upper_bound(text.len()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use agcore_chat::HeuristicEstimator;
    use proptest::prelude::*;

    use super::*;

    /// Counts one token per byte, and how many times it is called.
    #[derive(Default)]
    struct Counting(AtomicU64);

    impl TokenEstimator for Counting {
        fn text(&self, text: &str) -> u64 {
            self.0.fetch_add(1, Ordering::Relaxed);
            text.len() as u64
        }
    }

    fn gauge(estimator: &Arc<impl TokenEstimator + 'static>) -> Gauge {
        let mut gauge = Gauge::default();
        gauge.set_estimator(&(Arc::clone(estimator) as Arc<dyn TokenEstimator>));
        gauge
    }

    #[test]
    fn the_upper_bound_comes_from_sizes_or_is_unlimited() {
        let messages = ["a", "four"].map(|text| Arc::new(Message::user(text)));
        let parts: [&[_]; 2] = [&messages, &messages[..1]];
        assert_eq!(gauge(&Arc::new(Counting::default())).max_tokens(&parts), u64::MAX);
        let heuristic = Arc::new(HeuristicEstimator::default());
        let bound = gauge(&heuristic).max_tokens(&parts);
        assert!((heuristic.messages(&messages)..1000).contains(&bound));
    }

    #[test]
    fn counts_each_message_once_and_changed_ones_again() {
        let estimator = Arc::new(Counting::default());
        let mut gauge = gauge(&estimator);
        let mut messages: Vec<_> = ["a", "bb", "ccc"].map(|text| Arc::new(Message::user(text))).into();
        let check = |gauge: &mut Gauge, messages: &[Arc<Message>], expected_calls| {
            let before = estimator.0.load(Ordering::Relaxed);
            let sum = gauge.tokens(&[messages]);
            assert_eq!(estimator.0.load(Ordering::Relaxed) - before, expected_calls);
            assert_eq!(sum, Counting::default().messages(messages));
        };
        check(&mut gauge, &messages, 3);
        check(&mut gauge, &messages, 0);
        messages.push(Arc::new(Message::user("dddd")));
        check(&mut gauge, &messages, 1);
        messages[0] = Arc::new(Message::user("another"));
        check(&mut gauge, &messages, 1);
        messages.truncate(2);
        check(&mut gauge, &messages, 0);
    }

    #[test]
    fn another_estimator_counts_everything_again() {
        let messages = [Arc::new(Message::user("Hello, how are you today?"))];
        let mut gauge = gauge(&Arc::new(Counting::default()));
        gauge.tokens(&[&messages]);
        let estimator = HeuristicEstimator::default();
        gauge.set_estimator(&(Arc::new(estimator) as Arc<dyn TokenEstimator>));
        assert_eq!(gauge.tokens(&[&messages]), estimator.messages(&messages));
    }

    #[test]
    fn the_list_is_copied_only_while_a_request_has_it() {
        let messages: Vec<_> = (0..100)
            .map(|number| Arc::new(Message::user(number.to_string())))
            .collect();
        let mut gauge = Gauge::default();
        let request = gauge.messages(&[&messages[..99]]);
        let address = request.as_ptr();
        assert_ne!(gauge.messages(&[&messages]).as_ptr(), address);
        let address = gauge.messages(&[&messages]).as_ptr();
        drop(request);
        assert_eq!(gauge.messages(&[&messages[..98], &messages[99..]]).as_ptr(), address);
    }

    /// A change of the messages between two requests.
    #[derive(Debug, Clone)]
    enum Edit {
        Append(usize),
        Cut(usize),
        Replace(usize),
        Prelude(usize),
        Clear,
    }

    fn edit() -> impl Strategy<Value = Edit> {
        prop_oneof![
            4 => (0..40_usize).prop_map(Edit::Append),
            1 => (0..40_usize).prop_map(Edit::Cut),
            1 => (0..100_usize).prop_map(Edit::Replace),
            1 => (0..3_usize).prop_map(Edit::Prelude),
            1 => Just(Edit::Clear),
        ]
    }

    proptest! {
        /// Checks that lists and sums are those of the whole request after any change of the conversation since the last one.
        #[test]
        fn running_sums_are_those_of_a_full_count(edits in prop::collection::vec((edit(), 0..8_u8), 1..12)) {
            let estimator = Arc::new(HeuristicEstimator::default());
            let mut gauge = gauge(&estimator);
            let (mut prelude, mut messages, mut added) = (Vec::new(), Vec::new(), 0);
            let mut new = || {
                added += 1;
                Arc::new(Message::user("word ".repeat(added % 23)))
            };
            for (edit, asked) in edits {
                match edit {
                    Edit::Append(count) => messages.extend((0..count).map(|_| new())),
                    Edit::Cut(count) => messages.truncate(messages.len().saturating_sub(count)),
                    Edit::Replace(at) => messages.iter_mut().skip(at).step_by(7).for_each(|message| *message = new()),
                    Edit::Prelude(count) => prelude = (0..count).map(|_| new()).collect(),
                    Edit::Clear => messages.clear(),
                }
                let (older, newer) = messages.split_at(messages.len() / 3 * 2);
                let parts: [&[Arc<Message>]; 3] = [&prelude, older, newer];
                let whole = parts.concat();
                if asked & 1 > 0 {
                    prop_assert_eq!(gauge.tokens(&parts), estimator.messages(&whole));
                }
                if asked & 2 > 0 {
                    prop_assert_eq!(gauge.max_tokens(&parts), UpperBound(&*estimator).messages(&whole));
                }
                if asked & 4 > 0 {
                    let list = gauge.messages(&parts);
                    prop_assert!(list.iter().map(Arc::as_ptr).eq(whole.iter().map(Arc::as_ptr)));
                }
            }
        }
    }
}
