//! [`Bytes`]: reads big-endian numbers.

/// A part of a font file. Reading beyond its end is `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    /// Returns what follows an offset.
    pub(super) fn from(self, offset: usize) -> Option<Self> {
        self.0.get(offset..).map(Self)
    }

    pub(super) fn slice(self, offset: usize, length: usize) -> Option<&'a [u8]> {
        self.0.get(offset..offset.checked_add(length)?)
    }

    pub(super) fn u8(self, offset: usize) -> Option<u8> {
        self.0.get(offset).copied()
    }

    pub(super) fn u16(self, offset: usize) -> Option<u16> {
        let bytes = self.slice(offset, 2)?;
        Some(u16::from_be_bytes(bytes.try_into().ok()?))
    }

    pub(super) fn u32(self, offset: usize) -> Option<u32> {
        let bytes = self.slice(offset, 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    }
}

/// Returns the number that bytes are. Of too many bytes, the last ones count.
pub(super) fn number_of(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}
