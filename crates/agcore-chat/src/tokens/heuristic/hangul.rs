//! Korean syllables: how often a syllable continues the token of the one before it.
//!
//! Measured with `o200k_base` over Korean conversation, documentation and prose: endings and the Chinese roots of
//! formal language usually continue a token, rare syllables need several.

use super::charset::CharSet;

/// The number of levels that [`seam`] distinguishes.
pub(super) const SEAMS: usize = 4;

/// Returns the level of a syllable that follows another, by the average number of tokens that start at it: 0 for less
/// than 0.45, 1 for up to 0.7, 2 for up to 0.9, and 3 otherwise.
#[inline]
pub(super) fn seam(c: char) -> usize {
    LEVELS.iter().position(|set| set.contains(c)).unwrap_or(SEAMS - 1)
}

static LEVELS: [CharSet<175>; SEAMS - 1] = [
    CharSet::new('\u{ac00}', BOUND),
    CharSet::new('\u{ac00}', OFTEN),
    CharSet::new('\u{ac00}', SOMETIMES),
];

const BOUND: &str = "\
    각간게견결경계고공교근께낌뉴는늘능니닌다데떤떻락람랍래램럼럽렇력렵로록롯료류른름\
    막며면무문반발번법벤복본서성소습씀양업엇여열요용우움월음일재젝즈징째청체출태택터\
    트튼패항행험현환활황";

const OFTEN: &str = "\
    건굴그금기나냥느달담당던도동두든디라랑런려련루룹를릭만미민버부분비상색생션속수술\
    신십아안야어억언역영외운원유은을응인입작장접정제져조족존지직진천츠크큼타텐템함향\
    확후";

const SOMETIMES: &str = "\
    가강개거것과구국극까난내녀대드들랜러례론르리림마말명모블사산석세스시식실심악았었\
    에연오온으의이자저전주준증짜초축치키표한할해호화히";

#[cfg(test)]
mod tests {
    use super::{SEAMS, seam};

    #[test]
    fn endings_continue_a_token() {
        assert_eq!(seam('는'), 0);
        assert_eq!(seam('뷁'), SEAMS - 1);
        assert_eq!(seam('ㅋ'), SEAMS - 1);
    }
}
