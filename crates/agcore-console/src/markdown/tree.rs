//! [`Node`]: Markdown as a tree of what the pages can show.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// The largest number of blocks within each other. Deeper ones are shown as if they were not nested.
pub(super) const MAX_DEPTH: usize = 24;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Text(String),
    Code(String),
    Break,
    Rule,
    /// The box of a task, and whether it is done.
    Task(bool),
    /// The language and the code.
    CodeBlock(String, String),
    /// The address and the text.
    Link(String, Vec<Node>),
    /// The address and the description.
    Image(String, String),
    Block(Block, Vec<Node>),
}

/// A part of a text that contains others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Block {
    Paragraph,
    Heading(u8),
    Quote,
    /// A list, with the number of its first item if it has numbers.
    List(Option<u64>),
    Item,
    Emphasis,
    Strong,
    Deleted,
    Table,
    Row,
    HeadCell,
    Cell,
}

/// A part that has not ended.
enum Open {
    Block(Block),
    Link(String),
    Image(String),
    Code(String),
    /// A part that is left out, with its content in its place.
    Nothing,
}

/// Returns the parts of a text.
pub(super) fn parse(text: &str) -> Vec<Node> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder::default();
    for event in Parser::new_ext(text, options) {
        builder.push(event);
    }
    while !builder.open.is_empty() {
        builder.close();
    }
    builder.done
}

#[derive(Default)]
struct Builder {
    done: Vec<Node>,
    open: Vec<(Open, Vec<Node>)>,
    is_head: bool,
}

impl Builder {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(_) => self.close(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.add(Node::Text(text.into_string())),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.add(Node::Code(code.into_string()));
            }
            Event::SoftBreak => self.add(Node::Text("\n".to_owned())),
            Event::HardBreak => self.add(Node::Break),
            Event::Rule => self.add(Node::Rule),
            Event::TaskListMarker(is_done) => self.add(Node::Task(is_done)),
            Event::FootnoteReference(name) => self.add(Node::Text(format!("[{name}]"))),
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        let block = match tag {
            Tag::Paragraph => Block::Paragraph,
            Tag::Heading { level, .. } => Block::Heading(level as u8),
            Tag::BlockQuote(_) => Block::Quote,
            Tag::List(start) => Block::List(start),
            Tag::Item => Block::Item,
            Tag::Emphasis => Block::Emphasis,
            Tag::Strong => Block::Strong,
            Tag::Strikethrough => Block::Deleted,
            Tag::Table(_) => Block::Table,
            Tag::TableHead => {
                self.is_head = true;
                Block::Row
            }
            Tag::TableRow => {
                self.is_head = false;
                Block::Row
            }
            Tag::TableCell if self.is_head => Block::HeadCell,
            Tag::TableCell => Block::Cell,
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                return self.open.push((Open::Code(language), Vec::new()));
            }
            Tag::Link { dest_url, .. } => return self.open.push((Open::Link(dest_url.into_string()), Vec::new())),
            Tag::Image { dest_url, .. } => return self.open.push((Open::Image(dest_url.into_string()), Vec::new())),
            _ => return self.open.push((Open::Nothing, Vec::new())),
        };
        let open = if self.open.len() < MAX_DEPTH {
            Open::Block(block)
        } else {
            Open::Nothing
        };
        self.open.push((open, Vec::new()));
    }

    fn close(&mut self) {
        let Some((open, content)) = self.open.pop() else { return };
        let node = match open {
            Open::Block(block) => Node::Block(block, content),
            Open::Link(url) => Node::Link(url, content),
            Open::Image(url) => Node::Image(url, text_of(&content)),
            Open::Code(language) => Node::CodeBlock(language, text_of(&content)),
            Open::Nothing => {
                content.into_iter().for_each(|node| self.add(node));
                return;
            }
        };
        self.add(node);
    }

    fn add(&mut self, node: Node) {
        match self.open.last_mut() {
            Some((_, content)) => content.push(node),
            None => self.done.push(node),
        }
    }
}

/// Returns the text of parts, without their form.
fn text_of(nodes: &[Node]) -> String {
    let text = |node: &Node| match node {
        Node::Text(text) | Node::Code(text) | Node::CodeBlock(_, text) | Node::Image(_, text) => text.clone(),
        Node::Link(_, content) | Node::Block(_, content) => text_of(content),
        Node::Break => "\n".to_owned(),
        Node::Rule | Node::Task(_) => String::new(),
    };
    nodes.iter().map(text).collect()
}
