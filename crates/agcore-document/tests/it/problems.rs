//! All problems of a document at once.

use agcore_document::{Field, Format, Members};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Building {
    name: Field<String>,
    floors: Field<u8>,
    rooms: Field<Members<Field<Room>>>,
    doors: Option<Field<Vec<Field<Door>>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Room {
    size: Field<u32>,
    color: Field<String>,
    lamp: Option<Field<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only problems are of interest")]
struct Door {
    from: String,
    to: String,
}

#[track_caller]
fn problems(text: &str, expected: &[&str]) -> Option<Building> {
    let (building, problems) = Format::Yaml.parse(text).unwrap().read_all::<Building>();
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, expected, "{text}");
    building
}

#[test]
fn a_right_document_has_none() {
    let text = "name: a\nfloors: 2\nrooms: {x: {size: 3, color: red}}\ndoors: [{from: x, to: y}]";
    let building = problems(text, &[]).unwrap();
    assert_eq!(
        (building.name.value.as_deref(), building.name.place.column),
        (Some("a"), 7)
    );
    assert_eq!(building.floors.value, Some(2));
    let (name, room) = building.rooms.value.unwrap().into_iter().next().unwrap();
    let room = room.value.unwrap();
    assert_eq!((name.value.as_str(), name.place.column), ("x", 9));
    assert_eq!((room.size.value, room.color.value.as_deref()), (Some(3), Some("red")));
    assert!(room.lamp.is_none());
    assert_eq!(building.doors.unwrap().placed().unwrap().value.len(), 1);
}

#[test]
fn every_problem_is_found_once() {
    let text = "\
nam: a
floors: many
roof: flat
rooms:
  x: {size: 3}
  y: {}
  z: [1]
  w: {size: -1, color: 7, lamp: [], lmap: 1, wall: 2}
doors:
  - {from: a, to: 7}
  - {from: a}
  - {from: a, to: b, via: c}
";
    let building = problems(
        text,
        &[
            "1:1: there is no member `nam`; did you mean `name`?",
            "1:1: the member `name` is missing; add it",
            "2:9: floors: expected a whole number, found the text \"many\"",
            "3:1: there is no member `roof`; use one of `name`, `floors`, `rooms`, `doors`",
            "5:6: rooms.x: the member `color` is missing; add it",
            "6:6: rooms.y: the member `size` is missing; add it",
            "6:6: rooms.y: the member `color` is missing; add it",
            "7:6: rooms.z: expected a table, found a list",
            "8:13: rooms.w.size: expected a whole number from 0 to 4294967295, found the number -1",
            "8:24: rooms.w.color: expected a text, found the number 7; quote it",
            "8:33: rooms.w.lamp: expected a text, found a list",
            "8:37: rooms.w: there is no member `lmap`; did you mean `lamp`?",
            "8:46: rooms.w: there is no member `wall`; use one of `size`, `color`, `lamp`",
            "10:19: doors[0].to: expected a text, found the number 7; quote it",
            "11:5: doors[1]: the member `to` is missing; add it",
            "12:22: doors[2]: there is no member `via`; use one of `from`, `to`",
        ],
    )
    .unwrap();
    let rooms = building.rooms.value.unwrap();
    assert_eq!(rooms.names().collect::<Vec<_>>(), ["x", "y", "z", "w"]);
    assert_eq!(rooms.iter().filter(|(_, room)| room.value.is_some()).count(), 3);
    assert_eq!(
        building
            .doors
            .unwrap()
            .value
            .unwrap()
            .iter()
            .filter(|door| door.value.is_some())
            .count(),
        1
    );
}

#[test]
fn a_document_of_another_type_has_one() {
    assert!(problems("[1, 2]", &["1:1: expected a table, found a list"]).is_none());
}

#[test]
fn without_fields_the_first_problem_ends_the_type() {
    let (doors, problems) = Format::Yaml
        .parse("[{from: 1, to: 2}, {from: a, to: 3}]")
        .unwrap()
        .read_all::<Vec<Door>>();
    assert!(doors.is_none());
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        ["1:9: [0].from: expected a text, found the number 1; quote it"]
    );
}

#[test]
fn many_problems_take_no_longer_than_few() {
    // With a new attempt for each problem, this would read a document of 20 000 members 20 000 times.
    let unknown: String = (0..20_000).map(|index| format!("x{index}: 1\n")).collect();
    let (_, problems) = Format::Yaml.parse(&unknown).unwrap().read_all::<Building>();
    assert_eq!(problems.len(), 20_000 + 3);
    let rooms: String = (0..5_000).map(|index| format!("  x{index}: {{y: 1}}\n")).collect();
    let (_, problems) = Format::Yaml
        .parse(&format!("rooms:\n{rooms}"))
        .unwrap()
        .read_all::<Building>();
    assert_eq!(problems.len(), 3 * 5_000 + 2);
}
