//! [`in_order`]: the order of a tree.

use super::span::Span;

/// Returns spans in the order of a tree, each after the one that contains it, those with the same container by their beginning.
pub(super) fn in_order(spans: Vec<Span>) -> Vec<Span> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
    for (place, span) in spans.iter().enumerate() {
        if let Some(list) = span.parent.and_then(|parent| children.get_mut(parent)) {
            list.push(place);
        }
    }
    for list in &mut children {
        list.sort_by_key(|place| spans[*place].start);
    }
    let mut spans: Vec<Option<Span>> = spans.into_iter().map(Some).collect();
    let (mut ordered, mut rest) = (Vec::with_capacity(spans.len()), vec![(0, 0)]);
    while let Some((place, depth)) = rest.pop() {
        if let Some(mut span) = spans[place].take() {
            span.depth = depth;
            ordered.push(span);
        }
        rest.extend(children[place].iter().rev().map(|child| (*child, depth + 1)));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reports::timeline::span::SpanKind;

    #[test]
    fn spans_follow_the_one_that_contains_them() {
        let span = |name: &str, start, parent| {
            let mut span = Span::new(SpanKind::Step, name, start);
            span.parent = parent;
            span
        };
        let spans = vec![
            span("run", 0, None),
            span("late", 9, Some(0)),
            span("early", 1, Some(0)),
            span("of early", 5, Some(2)),
            span("of late", 2, Some(1)),
        ];
        let names: Vec<String> = in_order(spans)
            .into_iter()
            .map(|span| format!("{}{}", span.depth, span.name))
            .collect();
        assert_eq!(names, ["0run", "1early", "2of early", "1late", "2of late"]);
    }

    #[test]
    fn a_deep_tree_needs_no_stack() {
        let spans = (0..100_000).map(|place: usize| {
            let mut span = Span::new(SpanKind::Subagent, "", 0);
            span.parent = place.checked_sub(1);
            span
        });
        let ordered = in_order(spans.collect());
        assert_eq!((ordered.len(), ordered[99_999].depth), (100_000, 99_999));
    }
}
