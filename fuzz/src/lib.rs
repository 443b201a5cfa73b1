//! What the targets share: how an input is cut into reads, and into its parts.
//!
//! Inputs are as plain as can be, so that a recorded body or a template is a seed as it stands. What a target must choose
//! beside it (where reads end, which dialect) follows from the input's [`Chance`], and is the same each time.

pub mod decoder;

/// Choices that follow from an input alone.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The choices of an input (FNV-1a of its bytes).
    pub fn of(input: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(input.iter().fold(0xcbf2_9ce4_8422_2325, step))
    }

    /// The next number below `end`, which is not 0 (SplitMix64).
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// The bytes in reads of up to 24 bytes, some of them empty.
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

/// Three ways of reading the same bytes: at once, byte by byte, and in reads of all sizes.
pub fn slicings(bytes: &[u8]) -> [Vec<&[u8]>; 3] {
    [vec![bytes], bytes.chunks(1).collect(), Chance::of(bytes).reads(bytes)]
}

/// The input's parts, which NUL divides; missing ones are empty.
pub fn parts<const N: usize>(input: &str) -> [&str; N] {
    let mut parts = input.splitn(N, '\0');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}
