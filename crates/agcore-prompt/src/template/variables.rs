//! The variables and partials that a template uses.

use super::{
    compiled::Compiled,
    node::Node,
    path::{Base, Path},
};
use crate::value::{Map, Segment};

/// Returns the variables in the order of their first use.
pub(super) fn variables(template: &Compiled) -> Vec<String> {
    let mut names = Names::default();
    names.block(template.nodes(), "");
    names.variables.keys().map(str::to_owned).collect()
}

/// Returns the names of the partials in the order of their first use.
pub(super) fn partials(template: &Compiled) -> Vec<String> {
    let mut names = Names::default();
    names.block(template.nodes(), "");
    names.partials.keys().map(str::to_owned).collect()
}

#[derive(Default)]
struct Names {
    variables: Map<()>,
    partials: Map<()>,
}

impl Names {
    /// Collects the names that nodes use. `this` is the name of their `this`, which is empty for the root context.
    fn block(&mut self, nodes: &[Node], this: &str) {
        for node in nodes {
            match node {
                Node::Text(_) => {}
                Node::Print(path) => self.variable(path, this),
                Node::Branch(branch) => {
                    for arm in &branch.arms {
                        self.variable(&arm.condition.path, this);
                        self.block(&arm.body, this);
                    }
                    self.block(&branch.otherwise, this);
                }
                Node::Each(each) => {
                    self.variable(&each.list, this);
                    let list = full_name(&each.list, this).unwrap_or_default();
                    self.block(&each.body, &format!("{list}[]"));
                    self.block(&each.otherwise, this);
                }
                Node::Include(include) => {
                    self.partials.insert(&*include.name, ());
                }
            }
        }
    }

    fn variable(&mut self, path: &Path, this: &str) {
        if let Some(name) = full_name(path, this)
            && name != this
        {
            self.variables.insert(name, ());
        }
    }
}

/// Returns the full name of the value of a path, or `None` for a loop variable such as `@index`.
fn full_name(path: &Path, this: &str) -> Option<String> {
    let segments = match path.base {
        Base::Name | Base::This => &*path.segments,
        Base::Index | Base::First | Base::Last | Base::Key => return None,
    };
    let is_item =
        path.base == Base::Name && !this.is_empty() && segments.first().is_some_and(|segment| segment.name() == "item");
    let segments = if is_item { &segments[1..] } else { segments };
    let names = Some(this)
        .filter(|this| !this.is_empty())
        .into_iter()
        .chain(segments.iter().map(Segment::name));
    Some(names.collect::<Vec<_>>().join("."))
}
