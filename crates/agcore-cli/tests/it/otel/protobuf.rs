//! A minimal Protocol Buffers decoder: <https://protobuf.dev/programming-guides/encoding/>.

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field<'a> {
    /// A string, bytes or a message.
    Bytes(&'a [u8]),
    /// An integer of variable length.
    Varint(u64),
    /// A number of fixed length, which the tests do not need.
    Fixed,
}

/// Returns the fields of a message with their numbers, in order.
pub(super) fn fields(mut bytes: &[u8]) -> impl Iterator<Item = (u64, Field<'_>)> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Varint(varint(&mut bytes)),
            1 => {
                take(&mut bytes, 8);
                Field::Fixed
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                Field::Bytes(take(&mut bytes, length))
            }
            5 => {
                take(&mut bytes, 4);
                Field::Fixed
            }
            other => panic!("unknown wire type {other}"),
        };
        Some((tag >> 3, field))
    })
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}
