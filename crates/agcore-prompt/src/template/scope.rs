//! [`Scope`]: which names a template sees, and what they stand for.

use super::path::{Base, Path};
use crate::{
    error::near_names,
    value::{Data, Segment, View},
};

/// Names that are looked at for a suggestion, at most.
const MOST_NAMES: usize = 1000;

/// What a template sees: the whole context, or an element of a loop and what is around the loop.
pub(super) struct Scope<'s, 'v, D> {
    this: D,
    /// The round of the loop; none for the whole context.
    round: Option<Round<'v>>,
    outer: Option<&'s Scope<'s, 'v, D>>,
}

/// One round of a loop.
#[derive(Clone, Copy)]
pub(super) struct Round<'v> {
    pub(super) index: usize,
    pub(super) last: bool,
    pub(super) key: Option<&'v str>,
}

impl<'s, 'v, D: Data<'v>> Scope<'s, 'v, D> {
    /// What is seen outside all loops.
    pub(super) fn root(context: D) -> Self {
        Self {
            this: context,
            round: None,
            outer: None,
        }
    }

    /// What is seen in one round of a loop.
    pub(super) fn round(&'s self, element: D, round: Round<'v>) -> Self {
        Self {
            this: element,
            round: Some(round),
            outer: Some(self),
        }
    }

    /// What the path stands for, if there is such a thing.
    #[inline(always)]
    pub(super) fn find(&self, path: &Path) -> Option<View<'v, D>> {
        let (start, rest) = match path.base {
            Base::Name => {
                let (first, rest) = path.segments.split_first()?;
                (self.name(first)?, rest)
            }
            Base::This => (self.this, &*path.segments),
            other => return self.loop_variable(other),
        };
        let mut found = start;
        for segment in rest {
            found = found.part(segment)?;
        }
        Some(found.view())
    }

    /// Names like the one that a path fails at, as the whole path they would make.
    #[cold]
    pub(super) fn near(&self, path: &Path) -> Vec<String> {
        let (mut at, mut prefix, mut missing) = match (path.base, path.segments.split_first()) {
            (Base::This, Some((first, rest))) => (self.this, "this.".to_owned(), (first, rest)),
            (Base::Name, Some((first, rest))) => match self.name(first) {
                None => return near_names(first.name(), self.names()),
                Some(data) => match rest.split_first() {
                    Some(next) => (data, format!("{}.", first.name()), next),
                    None => return Vec::new(),
                },
            },
            _ => return Vec::new(),
        };
        while let (Some(part), Some(next)) = (at.part(missing.0), missing.1.split_first()) {
            prefix = format!("{prefix}{}.", missing.0.name());
            (at, missing) = (part, next);
        }
        let names = at.parts().filter_map(|(name, _)| name).take(MOST_NAMES);
        near_names(missing.0.name(), names)
            .into_iter()
            .map(|name| prefix.clone() + &name)
            .collect()
    }

    /// An element's fields come first, then outer names, then `item`.
    #[inline(always)]
    fn name(&self, name: &Segment) -> Option<D> {
        let mut scope = self;
        loop {
            if let Some(data) = scope.this.part(name) {
                return Some(data);
            }
            match scope.outer {
                Some(outer) => scope = outer,
                None => break,
            }
        }
        (name.name() == "item" && self.round.is_some()).then_some(self.this)
    }

    fn loop_variable(&self, base: Base) -> Option<View<'v, D>> {
        let round = self.round?;
        let index = View::Integer(round.index as i64);
        Some(match base {
            Base::First => View::Bool(round.index == 0),
            Base::Last => View::Bool(round.last),
            Base::Key => round.key.map_or(index, View::Text),
            Base::Index | Base::Name | Base::This => index,
        })
    }

    /// All names that are seen.
    fn names(&self) -> Vec<&'v str> {
        let scopes = std::iter::successors(Some(self), |scope| scope.outer);
        let names = scopes.flat_map(|scope| scope.this.parts().filter_map(|(name, _)| name));
        names
            .take(MOST_NAMES)
            .chain(["this"])
            .chain(self.round.map(|_| "item"))
            .collect()
    }
}
