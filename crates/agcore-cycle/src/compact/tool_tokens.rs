//! [`ToolTokens`]: the tokens of tools, counted once for many conversations.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use agcore_chat::{TokenEstimator, Tool};

use super::gauge::UpperBound;

/// The number of lists of tools that are remembered.
const REMEMBERED: usize = 8;

/// The tokens of the newest lists of tools. Lists are recognized by their allocation. Clones share what was counted.
#[derive(Clone, Default)]
pub(crate) struct ToolTokens(Arc<Mutex<Vec<Counted>>>);

#[derive(Clone)]
struct Counted {
    /// Keeps the allocation, so that no other list gets its address.
    tools: Weak<[Tool]>,
    estimator: Arc<dyn TokenEstimator>,
    bound: Option<u64>,
    tokens: Option<u64>,
}

impl ToolTokens {
    /// Returns the tokens of the tools.
    pub(crate) fn tokens(&self, tools: &Arc<[Tool]>, estimator: &Arc<dyn TokenEstimator>) -> u64 {
        if let Some(tokens) = self.known(tools, estimator, |known| known.tokens) {
            return tokens;
        }
        let tokens = count(tools, &**estimator);
        self.remember(tools, estimator, |known| known.tokens = Some(tokens));
        tokens
    }

    /// Returns an upper bound of the tokens of the tools, computed from their sizes alone unless they were counted before. It
    /// is `u64::MAX` if the estimator has no upper bound.
    pub(crate) fn bound(&self, tools: &Arc<[Tool]>, estimator: &Arc<dyn TokenEstimator>) -> u64 {
        if let Some(tokens) = self.known(tools, estimator, |known| known.tokens.or(known.bound)) {
            return tokens;
        }
        let bound = count(tools, &UpperBound(&**estimator));
        self.remember(tools, estimator, |known| known.bound = Some(bound));
        bound
    }

    fn known(
        &self,
        tools: &Arc<[Tool]>,
        estimator: &Arc<dyn TokenEstimator>,
        read: impl Fn(&Counted) -> Option<u64>,
    ) -> Option<u64> {
        let lists = self.lock();
        read(lists.iter().find(|known| known.is_of(tools, estimator))?)
    }

    fn remember(&self, tools: &Arc<[Tool]>, estimator: &Arc<dyn TokenEstimator>, write: impl FnOnce(&mut Counted)) {
        let mut lists = self.lock();
        if let Some(known) = lists.iter_mut().find(|known| known.is_of(tools, estimator)) {
            return write(known);
        }
        if lists.len() == REMEMBERED {
            lists.remove(0);
        }
        let mut counted = Counted {
            tools: Arc::downgrade(tools),
            estimator: Arc::clone(estimator),
            bound: None,
            tokens: None,
        };
        write(&mut counted);
        lists.push(counted);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Counted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn is_of(&self, tools: &Arc<[Tool]>, estimator: &Arc<dyn TokenEstimator>) -> bool {
        std::ptr::addr_eq(self.tools.as_ptr(), Arc::as_ptr(tools)) && Arc::ptr_eq(&self.estimator, estimator)
    }
}

fn count(tools: &[Tool], estimator: &dyn TokenEstimator) -> u64 {
    let tokens = tools.iter().map(|tool| estimator.tool(tool));
    tokens.fold(0, u64::saturating_add)
}

impl fmt::Debug for ToolTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolTokens")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use agcore_chat::{HeuristicEstimator, ToolDefinition};

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

    fn tools() -> Arc<[Tool]> {
        let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}});
        Arc::from([Tool::from(ToolDefinition::new("look", "Looks.", schema))])
    }

    #[test]
    fn the_upper_bound_is_not_below_the_tokens_and_gives_way_to_them() {
        let (tools, known) = (tools(), ToolTokens::default());
        let estimator: Arc<dyn TokenEstimator> = Arc::new(HeuristicEstimator::default());
        let bound = known.bound(&tools, &estimator);
        let tokens = known.tokens(&tools, &estimator);
        assert!(tokens < bound, "{tokens} < {bound}");
        assert_eq!(known.bound(&tools, &estimator), tokens);
        let unlimited: Arc<dyn TokenEstimator> = Arc::new(Counting::default());
        assert_eq!(known.bound(&tools, &unlimited), u64::MAX);
    }

    #[test]
    fn clones_count_each_list_only_once() {
        let counting = Arc::new(Counting::default());
        let estimator: Arc<dyn TokenEstimator> = counting.clone();
        let calls = || counting.0.load(Ordering::Relaxed);
        let (known, list) = (ToolTokens::default(), tools());
        let tokens = known.tokens(&list, &estimator);
        let counted = calls();
        assert_eq!(known.clone().tokens(&list, &estimator), tokens);
        assert_eq!(calls(), counted);
        assert_eq!(known.tokens(&Arc::default(), &estimator), 0);
        // The list is forgotten after many others, and others are not mistaken for it.
        for _ in 0..REMEMBERED {
            known.tokens(&tools(), &estimator);
        }
        assert_eq!(calls(), counted * (1 + REMEMBERED as u64));
        assert_eq!(known.tokens(&list, &estimator), tokens);
        assert_eq!(calls(), counted * (2 + REMEMBERED as u64));
    }
}
