//! [`Frame`]: a block whose end the parser has not yet seen.

use super::{
    node::{Arm, Block, Branch, Condition, Each, Node},
    path::Path,
};

/// A block whose end the parser has not yet seen.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) keyword: &'static str,
    /// Where its tag stands in the source.
    pub(super) at: usize,
    /// What the nodes being collected belong to.
    pub(super) part: Part,
    /// The nodes before the block.
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
    pub(super) fn new(keyword: &'static str, part: Part, at: usize, outer: Vec<Node>) -> Self {
        Self {
            keyword,
            at,
            part,
            outer,
            each: None,
            arms: Vec::new(),
            otherwise: Block::default(),
        }
    }

    /// Ends the current part with this body and begins the next.
    pub(super) fn switch(&mut self, next: Part, body: Block) {
        match std::mem::replace(&mut self.part, next) {
            Part::Loop(list) => self.each = Some((list, body)),
            Part::Arm(condition) => self.arms.push(Arm { condition, body }),
            Part::Otherwise => self.otherwise = body,
        }
    }

    /// Ends the last part with this body; gives back the nodes before the block with the block behind them.
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
