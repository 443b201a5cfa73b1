//! [`Frame`]: an open block on the stack of the parser.

use super::{
    node::{Arm, Block, Branch, Condition, Each, Node},
    path::Path,
};

/// A block whose closing tag has not been parsed yet.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) keyword: &'static str,
    /// The byte offset of the opening tag.
    pub(super) offset: usize,
    /// The part to which the nodes being parsed belong.
    pub(super) part: Part,
    /// The nodes that precede the block.
    outer: Vec<Node>,
    each: Option<(Path, Block)>,
    arms: Vec<Arm>,
    otherwise: Block,
}

/// A part of a block.
#[derive(Debug)]
pub(super) enum Part {
    Loop(Path),
    Arm(Condition),
    Otherwise,
}

impl Frame {
    pub(super) fn new(keyword: &'static str, part: Part, offset: usize, outer: Vec<Node>) -> Self {
        Self {
            keyword,
            offset,
            part,
            outer,
            each: None,
            arms: Vec::new(),
            otherwise: Block::default(),
        }
    }

    /// Ends the current part with this body and starts the next one.
    pub(super) fn switch(&mut self, next: Part, body: Block) {
        match std::mem::replace(&mut self.part, next) {
            Part::Loop(list) => self.each = Some((list, body)),
            Part::Arm(condition) => self.arms.push(Arm { condition, body }),
            Part::Otherwise => self.otherwise = body,
        }
    }

    /// Ends the last part with this body and returns the preceding nodes followed by the block.
    pub(super) fn close(mut self, body: Block) -> Vec<Node> {
        self.switch(Part::Otherwise, body);
        let mut rest = self.otherwise;
        if !self.arms.is_empty() {
            rest = Box::new([Node::Branch(Box::new(Branch {
                arms: self.arms.into(),
                otherwise: rest,
            }))]);
        }
        match self.each {
            Some((list, body)) => self.outer.push(Node::Each(Box::new(Each {
                list,
                body,
                otherwise: rest,
            }))),
            None => self.outer.extend(rest),
        }
        self.outer
    }
}
