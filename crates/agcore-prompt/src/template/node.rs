//! What a template is compiled to.

use super::path::Path;

/// Nodes in a row.
pub(super) type Block = Box<[Node]>;

/// One step of a template.
#[derive(Debug)]
#[repr(u8)]
pub(super) enum Node {
    /// Text, as it is.
    Text(Box<str>),
    /// The value of a variable.
    Print(Path),
    /// The first arm whose condition holds.
    Branch(Box<Branch>),
    /// A block for each element.
    Each(Box<Each>),
    /// Another template.
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
    /// Whether the condition holds when the value does not (`unless`).
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
    /// The blanks before a tag that is alone on its line; each line of the partial gets them.
    pub(super) indent: Box<str>,
    /// How many blocks are around the tag.
    pub(super) depth: usize,
    /// Where the tag stands in the source.
    pub(super) at: usize,
}
