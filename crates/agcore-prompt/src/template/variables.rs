//! What a template asks for: variables and partials.

use super::{
    compiled::Compiled,
    node::Node,
    path::{Base, Path},
};
use crate::value::{Map, Segment};

/// The variables, in the order of their first use.
pub(super) fn variables(template: &Compiled) -> Vec<String> {
    let mut needs = Needs::default();
    needs.block(template.nodes(), "");
    needs.variables.keys().map(str::to_owned).collect()
}

/// The names of the partials, in the order of their first use.
pub(super) fn partials(template: &Compiled) -> Vec<String> {
    let mut needs = Needs::default();
    needs.block(template.nodes(), "");
    needs.partials.keys().map(str::to_owned).collect()
}

#[derive(Default)]
struct Needs {
    variables: Map<()>,
    partials: Map<()>,
}

impl Needs {
    /// Notes what nodes need whose `this` has this name; the whole context has the empty name.
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

/// The name of a path's value where `this` has that name; none for what a loop counts.
fn full_name(path: &Path, this: &str) -> Option<String> {
    let steps = match path.base {
        Base::Name | Base::This => &*path.segments,
        Base::Index | Base::First | Base::Last | Base::Key => return None,
    };
    let is_item =
        path.base == Base::Name && !this.is_empty() && steps.first().is_some_and(|step| step.name() == "item");
    let steps = if is_item { &steps[1..] } else { steps };
    let names = Some(this)
        .filter(|this| !this.is_empty())
        .into_iter()
        .chain(steps.iter().map(Segment::name));
    Some(names.collect::<Vec<_>>().join("."))
}
