//! [`Picture`]: a flow as a drawing.

mod drawing;
mod overlay;
mod mermaid;
mod dot;
mod layout;
mod route;
mod svg;

use crate::{flow::Flow, graph::Graph, node::FlowState, record::Record, step::END};

use self::{
    drawing::{Drawing, DrawnEdge, DrawnNode, Shape},
    overlay::Overlay,
};

/// A flow as a drawing, on request with the path of a run: which nodes and edges it took, how long they took and what they cost.
///
/// ```
/// use agcore_chat::SystemClock;
/// use agcore_flow::{END, FlowBuilder, Step};
///
/// let flow = FlowBuilder::new("hello", SystemClock::new())
///     .with_node("greet", |state: u32, _| async move { Ok(Step::new(state)) })
///     .with_edge("greet", END)
///     .build()?;
/// assert_eq!(flow.picture().to_mermaid(), "flowchart TD\n    n0([\"start\"])\n    n1[\"greet\"]\n    n2([\"end\"])\n    n0 --> n1\n    n1 --> n2\n");
/// assert!(flow.picture().to_svg().starts_with("<svg "));
/// # Ok::<(), agcore_flow::FlowError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Picture(Drawing);

impl<S: FlowState> Flow<S> {
    /// Returns a picture of the flow.
    pub fn picture(&self) -> Picture {
        Picture::of(&self.parts().graph)
    }
}

impl Picture {
    fn of(graph: &Graph) -> Self {
        let shape = |name: &String| match name {
            _ if graph.fork_at(name).is_some() => Shape::Fork,
            _ if graph.forks.iter().any(|fork| fork.join == *name) => Shape::Join,
            _ => Shape::Plain,
        };
        let mut nodes = vec![DrawnNode::new("start", Shape::Terminal)];
        nodes.extend(graph.nodes.iter().map(|name| DrawnNode::new(name, shape(name))));
        nodes.push(DrawnNode::new(END, Shape::Terminal));
        let last = nodes.len() - 1;
        let place = |name: &str| {
            graph
                .nodes
                .iter()
                .position(|node| node == name)
                .map_or(last, |at| at + 1)
        };
        let mut edges = vec![DrawnEdge::new(0, place(&graph.start), None)];
        for (at, node) in graph.nodes.iter().enumerate() {
            let own = graph.edges_of(node);
            edges.extend(own.map(|edge| DrawnEdge::new(at + 1, place(&edge.to), edge.route.clone())));
            let branches = graph.fork_at(node).into_iter().flat_map(|fork| &fork.branches);
            edges.extend(branches.map(|branch| DrawnEdge::new(at + 1, place(branch), None)));
            let Some(limit) = graph.limits.get(node) else { continue };
            nodes[at + 1].notes.push(format!("at most {}×", limit.visits));
            // An edge that a node can take anyway is drawn once.
            let is_drawn = |exit: &String| {
                let mut own = edges.iter().filter(|edge| edge.from == at + 1 && edge.label.is_none());
                own.any(|edge| edge.to == place(exit))
            };
            if let Some(exit) = limit.exit.as_ref().filter(|exit| !is_drawn(exit)) {
                let mut edge = DrawnEdge::new(at + 1, place(exit), Some("limit".to_owned()));
                edge.is_exit = true;
                edges.push(edge);
            }
        }
        Self(Drawing { nodes, edges })
    }

    /// Marks the path of a run: its [records](crate::Checkpoints::records), or those of its events. Nodes show how often they were
    /// visited, how long that took, and the tokens and costs that they reported.
    #[must_use]
    pub fn with_run(mut self, records: &[Record]) -> Self {
        let overlay = Overlay::of(records);
        let Drawing { nodes, edges } = &mut self.0;
        let last = nodes.len() - 1;
        for (at, node) in nodes.iter_mut().enumerate() {
            node.is_visited = match at {
                0 => !records.is_empty(),
                _ if at == last => overlay.has_ended(),
                _ => overlay.is_visited(&node.name),
            };
            node.notes.extend(overlay.notes(&node.name));
        }
        for edge in edges {
            let (from, to) = (&nodes[edge.from], &nodes[edge.to]);
            edge.is_taken = match edge.from {
                0 => from.is_visited,
                _ => overlay.is_taken(&from.name, &to.name),
            };
        }
        self
    }

    /// Returns the picture in the language of Mermaid.
    pub fn to_mermaid(&self) -> String {
        mermaid::print(&self.0)
    }

    /// Returns the picture in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        dot::print(&self.0)
    }

    /// Returns the picture as an SVG image with a layout of its own: no other program is needed.
    pub fn to_svg(&self) -> String {
        svg::print(&self.0)
    }
}
