//! [`Drawing`]: nodes and edges as they are drawn.

/// The nodes and edges of a picture. The first node is the start, the last one the end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawing {
    pub(super) nodes: Vec<DrawnNode>,
    pub(super) edges: Vec<DrawnEdge>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct DrawnNode {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// The lines below the name.
    pub(super) notes: Vec<String>,
    pub(super) is_visited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The start or the end.
    Terminal,
    Plain,
    Fork,
    Join,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DrawnEdge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Option<String>,
    /// Whether it is taken only when a limit is reached.
    pub(super) is_exit: bool,
    pub(super) is_taken: bool,
}

impl DrawnNode {
    pub(super) fn new(name: &str, shape: Shape) -> Self {
        Self {
            name: name.to_owned(),
            shape,
            notes: Vec::new(),
            is_visited: false,
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.notes.iter().map(String::as_str))
    }
}

impl DrawnEdge {
    pub(super) fn new(from: usize, to: usize, label: Option<String>) -> Self {
        Self {
            from,
            to,
            label,
            is_exit: false,
            is_taken: false,
        }
    }
}
