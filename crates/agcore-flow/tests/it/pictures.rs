//! Pictures of flows and runs.

use std::process::{Command, Stdio};

use agcore_chat::{Money, Usage, UsageTracker};
use agcore_flow::{END, Flow, FlowBuilder, Fork, Limit, NodeContext, Picture, Step};

use crate::support::{Path, checkpoints, jumping, note, store};

fn flow() -> Flow<Path> {
    FlowBuilder::new("f", jumping())
        .with_node("plan \"<it>\"", |state: Path, context: NodeContext| async move {
            context.clock().sleep(std::time::Duration::from_millis(250)).await;
            let mut usage = Usage::new(100, 20);
            usage.cost = Some(Money::from_micros(1_500, "USD").into());
            let mut tracker = UsageTracker::default();
            tracker.record(Some(&usage));
            Ok(Step::new(state).via("yes").with_usage(tracker))
        })
        .with_node("split", note)
        .with_node("left", note)
        .with_node("right", note)
        .with_node("join", |state: Path, context: NodeContext| async move {
            Ok(Step::new(state).to(if context.visit() == 1 { "plan \"<it>\"" } else { END }))
        })
        .with_node("refuse", note)
        .with_route("plan \"<it>\"", "yes", "split")
        .with_route("plan \"<it>\"", "no", "refuse")
        .with_edge("left", "join")
        .with_edge("right", "join")
        .with_edge("join", "plan \"<it>\"")
        .with_edge("join", END)
        .with_edge("refuse", END)
        .with_limit("plan \"<it>\"", Limit::new(3).with_exit("refuse"))
        .with_fork(Fork::new("split", ["left", "right"], "join", |joined| Ok(joined.base)))
        .build()
        .unwrap()
}

async fn picture_of_a_run() -> Picture {
    let checkpoints = checkpoints(&store()).await;
    flow()
        .run(Path::default())
        .with_checkpoints(checkpoints.clone())
        .await
        .unwrap();
    flow().picture().with_run(&checkpoints.records().await.unwrap())
}

#[tokio::test]
async fn pictures_show_flows_and_runs() {
    insta::assert_snapshot!("flow.mermaid", flow().picture().to_mermaid());
    insta::assert_snapshot!("flow.dot", flow().picture().to_dot());
    let run = picture_of_a_run().await;
    insta::assert_snapshot!("run.mermaid", run.to_mermaid());
    insta::assert_snapshot!("run.dot", run.to_dot());
    insta::assert_snapshot!("run.svg", run.to_svg());
    // The way from `refuse` to the end is not straight: `split` is beside it, and `left` and `join` are between.
    assert_eq!(straight_lines(&run.to_svg(), &boxes(&run.to_svg())), 1);
}

#[test]
fn an_edge_that_is_also_an_exit_is_drawn_once() {
    let flow = |edge: &str| {
        let flow = FlowBuilder::new("f", jumping())
            .with_node("plan", note)
            .with_node("finish", note)
            .with_edge("plan", "plan")
            .with_edge("finish", END)
            .with_limit("plan", Limit::new(3).with_exit("finish"));
        let flow = match edge {
            "" => flow,
            "plain" => flow.with_edge("plan", "finish"),
            route => flow.with_route("plan", route, "finish"),
        };
        flow.build().unwrap().picture().to_dot()
    };
    let edges = |edge: &str| flow(edge).lines().filter(|line| line.contains("n1 -> n2")).count();
    assert_eq!([edges(""), edges("plain"), edges("done")], [1, 1, 2]);
    assert!(flow("").contains("limit") && !flow("plain").contains("limit"));
}

/// Passes a picture to a program that reads it, unless the program is absent.
#[allow(clippy::print_stdout, reason = "reports which program is absent")]
fn read_by(program: &str, arguments: &[&str], picture: &str) {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: {program} is not installed");
        return;
    };
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), picture.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn other_programs_read_them() {
    let run = picture_of_a_run().await;
    let parse = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin)";
    read_by("python3", &["-c", parse], &run.to_svg());
    read_by("dot", &["-Tsvg"], &run.to_dot());
}

#[test]
fn boxes_do_not_overlap() {
    // 30 nodes in a chain with shortcuts and a way back.
    let mut flow = FlowBuilder::new("f", jumping());
    for node in 0..30 {
        flow = flow
            .with_node(format!("n{node}"), note)
            .with_limit(format!("n{node}"), 3);
        for (route, step) in [1, 7, 30 - node].into_iter().enumerate() {
            let to = node + step;
            let to = if to < 30 { format!("n{to}") } else { END.to_owned() };
            flow = flow.with_route(format!("n{node}"), format!("r{route}"), to);
        }
        if node > 20 {
            flow = flow.with_route(format!("n{node}"), "back", "n2");
        }
    }
    let flow = match flow.build() {
        Ok(flow) => flow,
        Err(error) => panic!("{error}"),
    };
    let svg = flow.picture().to_svg();
    let boxes = boxes(&svg);
    assert_eq!(boxes.len(), 32);
    for (at, [x, y, width, height]) in boxes.iter().enumerate() {
        for [x2, y2, width2, height2] in &boxes[at + 1..] {
            let apart = x + width <= *x2 || x2 + width2 <= *x || y + height <= *y2 || y2 + height2 <= *y;
            assert!(apart, "{x} {y} and {x2} {y2}");
        }
    }
}

#[test]
fn lines_pass_the_boxes_of_wide_layers() {
    // Four layers of four nodes, each with an edge over a layer and one back.
    let mut flow = FlowBuilder::new("f", jumping()).with_node("begin", note);
    for node in 0..16_usize {
        let (layer, column) = (node / 4, node % 4);
        let name = format!("n{node}");
        flow = flow.with_node(&name, note).with_limit(&name, 3);
        flow = match layer {
            0 => flow.with_route("begin", format!("r{column}"), &name),
            _ => flow.with_route(format!("n{}", node - 4), "next", &name),
        };
        let over = if layer < 2 {
            format!("n{}", 11 - column + 4 * layer)
        } else {
            END.to_owned()
        };
        flow = flow.with_route(&name, "over", over);
        if layer > 0 {
            flow = flow.with_route(&name, "back", format!("n{}", 3 - column));
        }
    }
    let flow = match flow.build() {
        Ok(flow) => flow,
        Err(error) => panic!("{error}"),
    };
    let svg = flow.picture().to_svg();
    let ways = straight_lines(&svg, &boxes(&svg));
    assert!(ways > 10, "{ways} ways");
}

/// Asserts that no straight line crosses a box. Returns the number of ways that consist of such lines.
fn straight_lines(svg: &str, boxes: &[[usize; 4]]) -> usize {
    let mut ways = 0;
    for line in svg.lines().filter(|line| line.starts_with("<path d=\"M")) {
        let path = line.split('"').nth(1).unwrap();
        if !path.contains('L') {
            continue;
        }
        ways += 1;
        let numbers: Vec<usize> = path
            .split(['M', 'L', 'Q', ' '])
            .filter(|word| !word.is_empty())
            .map(|word| word.parse().unwrap())
            .collect();
        let points: Vec<[usize; 2]> = numbers.chunks(2).map(|point| [point[0], point[1]]).collect();
        for two in points.windows(2) {
            let ([x1, y1], [x2, y2]) = (two[0], two[1]);
            let (left, right, top, bottom) = (x1.min(x2), x1.max(x2), y1.min(y2), y1.max(y2));
            for [x, y, width, height] in boxes {
                let crosses =
                    left < x + width && *x < right.max(left + 1) && top < y + height && *y < bottom.max(top + 1);
                let touches = left == right && (bottom == *y || top == y + height);
                assert!(!crosses || touches, "{path} crosses the box at {x} {y}");
            }
        }
    }
    ways
}

/// Returns the place, the width and the height of each box.
fn boxes(svg: &str) -> Vec<[usize; 4]> {
    let number = |line: &str, name: &str| -> usize {
        let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    (svg.lines())
        .filter(|line| line.starts_with("<rect x="))
        .map(|line| ["x", "y", "width", "height"].map(|name| number(line, name)))
        .collect()
}
