//! [`Compiled`]: a template's source with its nodes; and [`Partials`], where others are found.

use std::fmt;

use super::{
    node::{Block, Node},
    parse::parse,
};
use crate::error::{Location, PromptError, PromptErrorKind};

/// Bytes that a variable is guessed to print.
const GUESSED_PRINT: usize = 16;

/// Elements that a list is guessed to have.
const GUESSED_ELEMENTS: usize = 8;

/// Output that is made room for before anything is rendered, at most.
const MOST_ROOM: usize = 64 << 10;

/// A template's source with its nodes.
#[derive(Debug)]
pub(crate) struct Compiled {
    name: Option<Box<str>>,
    source: Box<str>,
    nodes: Block,
    depth: usize,
    room: usize,
}

/// Where a template finds other templates.
pub(crate) trait Partials: fmt::Debug + Send + Sync {
    /// The template of this name, or why it does not compile.
    fn find(&self, name: &str) -> Option<Result<&Compiled, PromptError>>;

    /// All names, for suggestions.
    fn names(&self) -> Vec<&str>;
}

impl Compiled {
    /// Compiles a source; errors tell the name.
    pub(crate) fn new(name: Option<&str>, source: String) -> Result<Self, PromptError> {
        let program = parse(&source).map_err(|fault| fault.locate(name, &source))?;
        let room = room(&program.nodes).min(MOST_ROOM);
        Ok(Self {
            name: name.map(Into::into),
            source: source.into(),
            nodes: program.nodes,
            depth: program.depth,
            room,
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

    /// How deep its blocks are nested.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// How large the output is guessed to be, in bytes.
    pub(super) fn room(&self) -> usize {
        self.room
    }

    /// An error at this place of the template.
    #[cold]
    pub(super) fn error(&self, kind: PromptErrorKind, at: usize) -> PromptError {
        PromptError::at(kind, Location::new(self.name(), &self.source, at))
    }
}

/// How much these nodes are guessed to print.
fn room(nodes: &[Node]) -> usize {
    let sizes = nodes.iter().map(|node| match node {
        Node::Text(text) => text.len(),
        Node::Print(_) => GUESSED_PRINT,
        Node::Branch(branch) => branch.arms.iter().map(|arm| room(&arm.body)).max().unwrap_or(0),
        Node::Each(each) => room(&each.body).saturating_mul(GUESSED_ELEMENTS),
        Node::Include(_) => GUESSED_PRINT,
    });
    sizes.fold(0, usize::saturating_add)
}
