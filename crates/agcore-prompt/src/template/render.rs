//! The renderer: writes nodes and data as text.
//!
//! Values are borrowed, loops keep their state on the stack, and no allocation is made per node. The recursion depth is the
//! nesting depth of blocks and partials, which is limited.

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
    };
    renderer.block(Position { template, depth: 0 }, template.nodes(), scope)
}

struct Renderer<'r, W: ?Sized> {
    out: Output<'r, W>,
    partials: Option<&'r dyn Partials>,
    lenient: bool,
}

/// The template being rendered and the number of levels of blocks and partials around it.
#[derive(Clone, Copy)]
struct Position<'t> {
    template: &'t Compiled,
    depth: usize,
}

impl<W: fmt::Write + ?Sized> Renderer<'_, W> {
    fn block<'v, D: Data<'v>>(
        &mut self,
        at: Position<'_>,
        nodes: &[Node],
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        for node in nodes {
            match node {
                Node::Text(text) => self.out.text(text)?,
                Node::Print(path) => match scope.find(path) {
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
        let arm = branch.arms.iter().find(|arm| {
            let is_true = scope.find(&arm.condition.path).is_some_and(|view| view.is_truthy());
            is_true != arm.condition.negated
        });
        self.block(at, arm.map_or(&branch.otherwise, |arm| &arm.body), scope)
    }

    fn each<'v, D: Data<'v>>(
        &mut self,
        at: Position<'_>,
        each: &Each,
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        let list = match scope.find(&each.list) {
            Some(View::Array(list) | View::Object(list)) => list,
            Some(View::Null) => return self.block(at, &each.otherwise, scope),
            Some(other) => {
                let kind = PromptErrorKind::NotAnArray {
                    path: each.list.text(),
                    found: other.type_name(),
                };
                return Err(at.template.error(kind, each.list.offset));
            }
            None => {
                self.missing(at, &each.list, scope)?;
                return self.block(at, &each.otherwise, scope);
            }
        };
        let len = list.len();
        if len == 0 {
            return self.block(at, &each.otherwise, scope);
        }
        for (index, (key, element)) in list.parts().enumerate() {
            let iteration = Iteration {
                index,
                last: index + 1 == len,
                key,
            };
            self.block(at, &each.body, &scope.iteration(element, iteration))?;
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
        let before = self.out.indent(&include.indent);
        self.block(Position { template, depth }, template.nodes(), scope)?;
        self.out.restore(&before);
        Ok(())
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
