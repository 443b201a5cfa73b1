//! [`Headers`]: the headers of a message, one after the other.

use super::error::EventStreamError;

/// An iterator over headers: the name, and the value if it is text.
#[derive(Debug)]
pub(super) struct Headers<'a>(&'a [u8]);

type Header<'a> = (&'a [u8], Option<&'a str>);

impl<'a> Headers<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn read(&mut self) -> Option<Header<'a>> {
        let name = self.take_byte().map(usize::from)?;
        let name = self.take(name).filter(|name| !name.is_empty())?;
        let kind = self.take_byte()?;
        let size = match kind {
            // True and false.
            0 | 1 => 0,
            // Integers of 1, 2, 4 and 8 bytes.
            2 => 1,
            3 => 2,
            4 => 4,
            // An integer or a time.
            5 | 8 => 8,
            // Bytes or text behind their length.
            6 | 7 => {
                let length = self.take(2)?;
                usize::from(length[0]) << 8 | usize::from(length[1])
            }
            // A UUID.
            9 => 16,
            _ => return None,
        };
        let value = self.take(size)?;
        match kind {
            7 => Some((name, Some(std::str::from_utf8(value).ok()?))),
            _ => Some((name, None)),
        }
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn take_byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Result<Header<'a>, EventStreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let header = self.read().ok_or(EventStreamError::Headers);
        if header.is_err() {
            self.0 = &[];
        }
        Some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<Header<'_>>, EventStreamError> {
        Headers::new(bytes).collect()
    }

    #[test]
    fn every_type_has_its_size() {
        let bytes = b"\x01a\x00\x01b\x01\x01c\x02\xff\x01d\x03\x00\x01\x01e\x04\x00\x00\x00\x01\
            \x01f\x05\x00\x00\x00\x00\x00\x00\x00\x01\x01g\x06\x00\x02\xff\xff\x01h\x07\x00\x02ok\
            \x01i\x08\x00\x00\x00\x00\x00\x00\x00\x01\x01j\x090123456789abcdef\x01k\x07\x00\x00";
        let found = read(bytes).unwrap();
        assert_eq!(found.len(), 11);
        assert_eq!(found[7], (b"h".as_slice(), Some("ok")));
        assert_eq!(found[10], (b"k".as_slice(), Some("")));
        assert!(found[..7].iter().all(|(_, value)| value.is_none()));
        for end in 1..bytes.len() {
            let is_end_of_header = found
                .iter()
                .any(|(name, _)| name.as_ptr() as usize == bytes.as_ptr() as usize + end + 1);
            assert_eq!(read(&bytes[..end]).is_ok(), is_end_of_header, "{end}");
        }
    }

    #[test]
    fn invalid_headers_are_errors() {
        for wrong in [
            b"\x00\x00".as_slice(),
            b"\x01",
            b"\x01a",
            b"\x01a\x0a",
            b"\x01a\xff",
            b"\x05a\x00",
            b"\x01a\x07\x00\x03ab",
            b"\x01a\x07\xff\xff",
            b"\x01a\x07\x00\x02\xc3\x28",
            b"\x01a\x00\x01",
        ] {
            assert_eq!(read(wrong), Err(EventStreamError::Headers), "{wrong:?}");
        }
    }
}
