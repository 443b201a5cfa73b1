//! [`Node`]: the compiled form of a template.

use super::path::Path;

/// The maximum nesting depth of blocks and partials together.
pub(super) const MAX_DEPTH: usize = 16;

/// A sequence of nodes.
pub(super) type Block = Box<[Node]>;

/// A node of a compiled template.
#[derive(Debug)]
#[repr(u8)]
pub(super) enum Node {
    /// Prints literal text.
    Text(Box<str>),
    /// Prints the value of a variable.
    Print(Path),
    /// Renders the first arm whose condition is true.
    Branch(Box<Branch>),
    /// Renders a body for each element.
    Each(Box<Each>),
    /// Renders another template.
    Include(Box<Include>),
}

#[derive(Debug)]
pub(super) struct Branch {
    pub(super) arms: Box<[Arm]>,
    pub(super) otherwise: Block,
}

#[derive(Debug)]
pub(super) struct Arm {
    pub(super) condition: Condition,
    pub(super) body: Block,
}

#[derive(Debug)]
pub(super) struct Condition {
    pub(super) path: Path,
    /// Whether the condition is inverted (`unless`).
    pub(super) negated: bool,
}

#[derive(Debug)]
pub(super) struct Each {
    pub(super) list: Path,
    pub(super) body: Block,
    pub(super) otherwise: Block,
}

#[derive(Debug)]
pub(super) struct Include {
    pub(super) name: Box<str>,
    /// The whitespace before a standalone tag, which indents each line of the partial.
    pub(super) indent: Box<str>,
    /// The number of blocks around the tag.
    pub(super) depth: usize,
    /// The byte offset of the tag.
    pub(super) offset: usize,
}
