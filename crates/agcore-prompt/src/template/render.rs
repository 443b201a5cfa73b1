//! Nodes and data to text.
//!
//! Values are borrowed, loops keep their state on the stack, and nothing is allocated per node. The recursion is as
//! deep as blocks and partials nest, which is limited.

use std::fmt;

use super::{
    compiled::{Compiled, Partials},
    depth::MAX_DEPTH,
    node::{Branch, Each, Include, Node},
    options::RenderOptions,
    output::Output,
    path::Path,
    scope::{Round, Scope},
};
use crate::{
    error::{PromptError, PromptErrorKind, near_names},
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
    renderer.block(Place { template, depth: 0 }, template.nodes(), scope)
}

struct Renderer<'r, W: ?Sized> {
    out: Output<'r, W>,
    partials: Option<&'r dyn Partials>,
    lenient: bool,
}

/// The template being rendered, and how many levels of blocks and partials are around it.
#[derive(Clone, Copy)]
struct Place<'t> {
    template: &'t Compiled,
    depth: usize,
}

impl<W: fmt::Write + ?Sized> Renderer<'_, W> {
    fn block<'v, D: Data<'v>>(
        &mut self,
        at: Place<'_>,
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
        at: Place<'_>,
        branch: &Branch,
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        let arm = branch.arms.iter().find(|arm| {
            let holds = scope.find(&arm.condition.path).is_some_and(|view| view.is_true());
            holds != arm.condition.negated
        });
        self.block(at, arm.map_or(&branch.otherwise, |arm| &arm.body), scope)
    }

    fn each<'v, D: Data<'v>>(
        &mut self,
        at: Place<'_>,
        each: &Each,
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        let list = match scope.find(&each.list) {
            Some(View::Array(list) | View::Object(list)) => list,
            Some(View::Null) => return self.block(at, &each.otherwise, scope),
            Some(other) => {
                let kind = PromptErrorKind::NotAnArray {
                    path: each.list.text(),
                    found: other.kind(),
                };
                return Err(at.template.error(kind, each.list.at));
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
            let round = Round {
                index,
                last: index + 1 == len,
                key,
            };
            self.block(at, &each.body, &scope.round(element, round))?;
        }
        Ok(())
    }

    fn include<'v, D: Data<'v>>(
        &mut self,
        at: Place<'_>,
        include: &Include,
        scope: &Scope<'_, 'v, D>,
    ) -> Result<(), PromptError> {
        let template = match self.partials.and_then(|partials| partials.find(&include.name)) {
            Some(found) => found?,
            None => {
                let known = self.partials.map(Partials::names).unwrap_or_default();
                let name = include.name.clone().into_string();
                let kind = PromptErrorKind::PartialNotFound {
                    near: near_names(&name, known),
                    name,
                };
                return Err(at.template.error(kind, include.at));
            }
        };
        let depth = at.depth + include.depth + 1;
        if depth + template.depth() > MAX_DEPTH {
            return Err(at
                .template
                .error(PromptErrorKind::Depth { limit: MAX_DEPTH }, include.at));
        }
        let before = self.out.indent(&include.indent);
        self.block(Place { template, depth }, template.nodes(), scope)?;
        self.out.unindent(&before);
        Ok(())
    }

    /// What happens when a variable has no value.
    #[cold]
    fn missing<'v, D: Data<'v>>(
        &self,
        at: Place<'_>,
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
        Err(at.template.error(kind, path.at))
    }
}
