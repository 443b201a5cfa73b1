//! Code shared by the fuzz targets: splitting an input into reads and into parts.
//!
//! Inputs are in plain formats, so that a recorded body or a template is usable as a seed without changes. Everything else
//! that a target needs to choose (where reads end, which dialect) is derived from the input by [`Choices`] and is therefore
//! reproducible.

pub mod decoder;

/// A source of deterministic choices derived from an input.
#[derive(Debug, Clone)]
pub struct Choices(u64);

impl Choices {
    /// Creates the choices of an input, seeded with the FNV-1a hash of its bytes.
    pub fn new(input: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(input.iter().fold(0xcbf2_9ce4_8422_2325, step))
    }

    /// Returns the next number below `end`, which must not be 0 (SplitMix64).
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// Picks one of several options.
    pub fn pick<'a, T>(&mut self, options: &'a [T]) -> &'a T {
        &options[self.below(options.len())]
    }

    /// Splits bytes into reads of up to 24 bytes. Some reads are empty.
    pub fn reads<'a>(&mut self, bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let (mut reads, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let (read, after) = rest.split_at(self.below(25).min(rest.len()));
            reads.push(read);
            rest = after;
        }
        reads
    }
}

/// Splits the same bytes in three ways: a single read, one read per byte, and reads of various sizes.
pub fn slicings(bytes: &[u8]) -> [Vec<&[u8]>; 3] {
    [vec![bytes], bytes.chunks(1).collect(), Choices::new(bytes).reads(bytes)]
}

/// Splits an input into its parts, which are separated by NUL. Missing parts are empty.
pub fn parts<const N: usize>(input: &str) -> [&str; N] {
    let mut parts = input.splitn(N, '\0');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}
