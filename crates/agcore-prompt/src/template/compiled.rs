//! [`Compiled`]: a parsed template with its source; [`Partials`]: lookup of other templates.

use std::fmt;

use super::{
    node::{Block, Node},
    parse::parse,
};
use crate::error::{Location, PromptError, PromptErrorKind};

/// The estimated length of a printed variable in bytes.
const ESTIMATED_VALUE_LEN: usize = 16;

/// The estimated number of elements in a list.
const ESTIMATED_ELEMENTS: usize = 8;

/// The largest output buffer, in bytes, that is allocated before rendering starts.
const MAX_ESTIMATED_LEN: usize = 64 << 10;

/// A parsed template with its source.
#[derive(Debug)]
pub(crate) struct Compiled {
    name: Option<Box<str>>,
    source: Box<str>,
    nodes: Block,
    depth: usize,
    estimated_len: usize,
}

/// A collection in which a template looks up its partials.
pub(crate) trait Partials: fmt::Debug + Send + Sync {
    /// Returns the template with this name, or the error if it does not compile.
    fn find(&self, name: &str) -> Option<Result<&Compiled, PromptError>>;

    /// Returns all names, for suggestions.
    fn names(&self) -> Vec<&str>;
}

impl Compiled {
    /// Parses a source. Errors contain the name.
    pub(crate) fn new(name: Option<&str>, source: String) -> Result<Self, PromptError> {
        let program = parse(&source).map_err(|error| error.locate(name, &source))?;
        let estimated_len = estimated_len(&program.nodes).min(MAX_ESTIMATED_LEN);
        Ok(Self {
            name: name.map(Into::into),
            source: source.into(),
            nodes: program.nodes,
            depth: program.depth,
            estimated_len,
        })
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the nesting depth of its blocks.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the estimated length of the output in bytes.
    pub(super) fn estimated_len(&self) -> usize {
        self.estimated_len
    }

    /// Creates an error at a byte offset of the source.
    #[cold]
    pub(super) fn error(&self, kind: PromptErrorKind, offset: usize) -> PromptError {
        PromptError::at(kind, Location::new(self.name(), &self.source, offset))
    }
}

/// Estimates the length of the output of these nodes in bytes.
fn estimated_len(nodes: &[Node]) -> usize {
    let sizes = nodes.iter().map(|node| match node {
        Node::Text(text) => text.len(),
        Node::Print(_) => ESTIMATED_VALUE_LEN,
        Node::Branch(branch) => {
            let arms = branch.arms.iter().map(|arm| estimated_len(&arm.body));
            arms.max().unwrap_or(0)
        }
        Node::Each(each) => estimated_len(&each.body).saturating_mul(ESTIMATED_ELEMENTS),
        Node::Include(_) => ESTIMATED_VALUE_LEN,
    });
    sizes.fold(0, usize::saturating_add)
}
