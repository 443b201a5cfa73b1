//! The renderer: writes nodes and data as text.
//!
//! Values are borrowed, loops keep their state on the stack, and no allocation is made per node. The recursion depth is the
//! nesting depth of blocks and partials, which is limited. So is the number of steps, which bounds the time.

use std::fmt;

use super::{
    compiled::{Compiled, Partials},
    node::{Branch, Each, Include, MAX_DEPTH, Node},
    options::RenderOptions,
    output::Output,
    path::Path,
    scope::{Iteration, Scope},
};
use crate::{
    error::{PromptError, PromptErrorKind, similar_names},
    value::{Data, TextSink, View, print},
};

/// The number of bytes of indentation that are added in one step.
const BYTES_PER_STEP: usize = 64;

/// Renders a template.
pub(super) fn render<'v, D: Data<'v>, W: fmt::Write + ?Sized>(
    template: &Compiled,
    partials: Option<&dyn Partials>,
    options: RenderOptions,
    scope: &Scope<'_, 'v, D>,
    writer: &mut W,
) -> Result<(), PromptError> {
    let out = Output::new(writer, options.max_output_bytes);
    let mut renderer = Renderer {
        out,
        partials,
        lenient: options.lenient,
        steps: 0,
        max_steps: options.max_steps,
    };
    renderer.block(Position { template, depth: 0 }, template.nodes(), scope, 0)
}

struct Renderer<'r, W: ?Sized> {
    out: Output<'r, W>,
    partials: Option<&'r dyn Partials>,
    lenient: bool,
    /// The number of steps so far.
    steps: u64,
    max_steps: u64,
}

/// The template being rendered and the number of levels of blocks and partials around it.
#[derive(Clone, Copy)]
struct Position<'t> {
    template: &'t Compiled,
    depth: usize,
}

impl<W: fmt::Write + ?Sized> Renderer<'_, W> {
    /// Renders the nodes of a block whose tag is at `offset`.
    fn block<'v, D: Data<'v>>(
        &mut self,
        at: Position<'_>,
        nodes: &[Node],
        scope: &Scope<'_, 'v, D>,
        offset: usize,
    ) -> Result<(), PromptError> {
        self.step(at, nodes.len(), offset)?;
        self.nodes(at, nodes, scope)
    }

    fn nodes<'v, D: Data<'v>>(
        &mut self,
        at: Position<'_>,
        nodes: &[Node],
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        for node in nodes {
            match node {
                Node::Text(text) => self.out.text(text)?,
                Node::Print(path) => match self.find(at, path, scope)? {
                    Some(view) => print(view, &mut self.out)?,
                    None => self.missing(at, path, scope)?,
                },
                Node::Branch(branch) => self.branch(at, branch, scope)?,
                Node::Each(each) => self.each(at, each, scope)?,
                Node::Include(include) => self.include(at, include, scope)?,
            }
        }
        Ok(())
    }

    fn branch<'v, D: Data<'v>>(
        &mut self,
        at: Position<'_>,
        branch: &Branch,
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        let mut offset = 0;
        for arm in &branch.arms {
            offset = arm.condition.path.offset;
            self.step(at, 1, offset)?;
            let value = self.find(at, &arm.condition.path, scope)?;
            if value.is_some_and(|view| view.is_truthy()) != arm.condition.negated {
                return self.block(at, &arm.body, scope, offset);
            }
        }
        self.block(at, &branch.otherwise, scope, offset)
    }

    fn each<'v, D: Data<'v>>(
        &mut self,
        at: Position<'_>,
        each: &Each,
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        let offset = each.list.offset;
        let list = match self.find(at, &each.list, scope)? {
            Some(View::Array(list) | View::Object(list)) => list,
            Some(View::Null) => return self.block(at, &each.otherwise, scope, offset),
            Some(other) => {
                let kind = PromptErrorKind::NotAnArray {
                    path: each.list.text(),
                    found: other.type_name(),
                };
                return Err(at.template.error(kind, offset));
            }
            None => {
                self.missing(at, &each.list, scope)?;
                return self.block(at, &each.otherwise, scope, offset);
            }
        };
        let len = list.len();
        if len == 0 {
            return self.block(at, &each.otherwise, scope, offset);
        }
        for (index, (key, element)) in list.parts().enumerate() {
            let iteration = Iteration {
                index,
                last: index + 1 == len,
                key,
            };
            self.step(at, 1, offset)?;
            self.block(at, &each.body, &scope.iteration(element, iteration), offset)?;
        }
        Ok(())
    }

    fn include<'v, D: Data<'v>>(
        &mut self,
        at: Position<'_>,
        include: &Include,
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        let template = match self.partials.and_then(|partials| partials.find(&include.name)) {
            Some(found) => found?,
            None => {
                let known = self.partials.map(Partials::names).unwrap_or_default();
                let name = include.name.clone().into_string();
                let kind = PromptErrorKind::PartialNotFound {
                    near: similar_names(&name, known),
                    name,
                };
                return Err(at.template.error(kind, include.offset));
            }
        };
        let depth = at.depth + include.depth + 1;
        if depth + template.depth() > MAX_DEPTH {
            return Err(at
                .template
                .error(PromptErrorKind::Depth { limit: MAX_DEPTH }, include.offset));
        }
        // Limits are exceeded at the tag, not in the partial, unless a loop in the partial is the cause.
        self.step(
            at,
            template.nodes().len() + include.indent.len() / BYTES_PER_STEP,
            include.offset,
        )?;
        let before = self.out.indent(&include.indent);
        self.nodes(Position { template, depth }, template.nodes(), scope)?;
        self.out.restore(&before);
        Ok(())
    }

    /// Resolves a path.
    #[inline(always)]
    fn find<'v, D: Data<'v>>(
        &mut self,
        at: Position<'_>,
        path: &Path,
        scope: &Scope<'_, 'v, D>,
    ) -> Result<Option<View<'v, D>>, PromptError> {
        let found = scope.find(path, &mut self.steps);
        self.step(at, 0, path.offset)?;
        Ok(found)
    }

    /// Counts steps. Fails at `offset` if there are more than the options allow.
    #[inline(always)]
    fn step(&mut self, at: Position<'_>, steps: usize, offset: usize) -> Result<(), PromptError> {
        self.steps = self.steps.saturating_add(steps as u64);
        if self.steps <= self.max_steps {
            return Ok(());
        }
        let limit = self.max_steps;
        Err(at.template.error(PromptErrorKind::Steps { limit }, offset))
    }

    /// Handles a variable without a value: an error, unless the options are lenient.
    #[cold]
    fn missing<'v, D: Data<'v>>(
        &self,
        at: Position<'_>,
        path: &Path,
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        if self.lenient {
            return Ok(());
        }
        let kind = PromptErrorKind::VariableNotFound {
            path: path.text(),
            near: scope.near(path),
        };
        Err(at.template.error(kind, path.offset))
    }
}
