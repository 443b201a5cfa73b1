//! [`Scope`]: resolution of names.

use super::path::{Base, Path};
use crate::{
    error::similar_names,
    value::{Data, Segment, View},
};

/// The maximum number of names that are considered for a suggestion.
const MAX_CANDIDATES: usize = 1000;

/// The values that a template can access: the context, or an element of a loop and the scopes around the loop.
pub(super) struct Scope<'s, 'v, D> {
    this: D,
    /// The current iteration of the loop, or `None` in the root scope.
    iteration: Option<Iteration<'v>>,
    outer: Option<&'s Scope<'s, 'v, D>>,
}

/// The state of one iteration of a loop.
#[derive(Clone, Copy)]
pub(super) struct Iteration<'v> {
    pub(super) index: usize,
    pub(super) last: bool,
    pub(super) key: Option<&'v str>,
}

impl<'s, 'v, D: Data<'v>> Scope<'s, 'v, D> {
    /// Creates the root scope.
    pub(super) fn root(context: D) -> Self {
        Self {
            this: context,
            iteration: None,
            outer: None,
        }
    }

    /// Creates the scope of one iteration of a loop.
    pub(super) fn iteration(&'s self, element: D, iteration: Iteration<'v>) -> Self {
        Self {
            this: element,
            iteration: Some(iteration),
            outer: Some(self),
        }
    }

    /// Resolves a path, and adds the extra steps of searching large values to `steps`.
    #[inline(always)]
    pub(super) fn find(&self, path: &Path, steps: &mut u64) -> Option<View<'v, D>> {
        let (start, rest) = match path.base {
            Base::Name => {
                let (first, rest) = path.segments.split_first()?;
                (self.name(first, steps)?, rest)
            }
            Base::This => (self.this, &*path.segments),
            other => return self.loop_variable(other),
        };
        let mut found = start;
        for segment in rest {
            *steps = steps.saturating_add(found.search_steps());
            found = found.part(segment)?;
        }
        Some(found.view())
    }

    /// Returns suggestions for a path that cannot be resolved: the whole path with the failing segment replaced by a
    /// similar name.
    #[cold]
    pub(super) fn near(&self, path: &Path) -> Vec<String> {
        let (mut at, mut prefix, mut missing) = match (path.base, path.segments.split_first()) {
            (Base::This, Some((first, rest))) => (self.this, "this.".to_owned(), (first, rest)),
            (Base::Name, Some((first, rest))) => match self.name(first, &mut 0) {
                None => return similar_names(first.name(), self.names()),
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
        let names = at.parts().filter_map(|(name, _)| name).take(MAX_CANDIDATES);
        similar_names(missing.0.name(), names)
            .into_iter()
            .map(|name| prefix.clone() + &name)
            .collect()
    }

    /// Resolves a name: fields of the element first, then enclosing scopes, then `item`.
    #[inline(always)]
    fn name(&self, name: &Segment, steps: &mut u64) -> Option<D> {
        let mut scope = self;
        loop {
            *steps = steps.saturating_add(scope.this.search_steps());
            if let Some(data) = scope.this.part(name) {
                return Some(data);
            }
            match scope.outer {
                Some(outer) => scope = outer,
                None => break,
            }
        }
        (name.name() == "item" && self.iteration.is_some()).then_some(self.this)
    }

    fn loop_variable(&self, base: Base) -> Option<View<'v, D>> {
        let iteration = self.iteration?;
        let index = View::Integer(iteration.index as i64);
        Some(match base {
            Base::First => View::Bool(iteration.index == 0),
            Base::Last => View::Bool(iteration.last),
            Base::Key => iteration.key.map_or(index, View::Text),
            Base::Index | Base::Name | Base::This => index,
        })
    }

    /// Returns all names in scope.
    fn names(&self) -> Vec<&'v str> {
        let scopes = std::iter::successors(Some(self), |scope| scope.outer);
        let names = scopes.flat_map(|scope| scope.this.parts().filter_map(|(name, _)| name));
        names
            .take(MAX_CANDIDATES)
            .chain(["this"])
            .chain(self.iteration.map(|_| "item"))
            .collect()
    }
}
