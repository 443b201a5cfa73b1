//! The units of a text, and the number of tokens that each is worth.
//!
//! The weights are the result of non-negative least-squares fits against the counts of each family's own tokenizer. Those of
//! Latin text, punctuation, white space and the less common scripts were fitted to 1 250 passages (1.8 million characters:
//! prose in forty languages, source code, markup, JSON, logs, identifiers), both complete and split into pieces of about 65
//! characters. All kinds of text have the same influence, except that those typical of conversations have more. Each weight
//! is regularized towards the share of tokens that really start at its unit, so that it is plausible by itself.
//!
//! Those of scripts that are split into pieces, and of pictographs, were fitted to the words of the samples in
//! `tests/fixtures/tokens/languages.json` that are not held out, to rare letters, and to single pictographs. Two corrections
//! were chosen by hand from the same samples: a factor of 0.935 for Chinese and Japanese in the Claude families, whose words
//! cost more on their own than within a text, and one of 0.6 for the `Foreign` units of o200k. The samples that the tests
//! compare belong to none of these sets.

use super::class::Script;
use super::family::TokenizerFamily;
use super::{letters, puncts};

use Unit::*;

/// Declares the units with their weights in thousandths of a token, one column per family.
macro_rules! units {
    ([$($family:ident)*] $($(#[$doc:meta])* $unit:ident $($weight:literal)*;)*) => {
        /// A part of a text that has a weight of its own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Unit {
            $($(#[$doc])* $unit,)*
        }

        const FAMILIES: &[TokenizerFamily] = &[$(TokenizerFamily::$family),*];
        const WEIGHTS: &[[u16; FAMILIES.len()]] = &[$([$($weight),*]),*];
    };
}

#[rustfmt::skip]
units! {
    [                      O200k   Cl100k   Llama3     Qwen DeepSeek  Claude3 Claude47 ]

    // Words of Latin letters: the first letter, including the space before it.
    Word                     969      976      968      968      968      883      890;
    /// After `.`, `_` or an apostrophe, which usually share the word's token.
    WordGlued                  0        0        0        0      217      651      575;
    /// After `/`, `-`, `:`, `=` or `;`.
    WordAfterDash            539      473      483      481      561      723      615;
    /// After an opening bracket.
    WordAfterOpening         684      503      547      505      757      742      882;
    WordAfterQuote           812      779      788      787      730      590      484;
    WordAfterSign            942      964      959      986     1056      993      812;
    WordAfterDigit           943      908      913      921      952      953      955;
    WordAfterTab             539      501      482      483      827     1054     1297;
    /// Added for a capital first letter.
    Capital                   46       68       65       51       51      307      708;
    /// A capital after a lower-case letter: `camelCase`.
    Hump                     859      792      749      744      844     1161     1592;

    // The following letters, by their seam with the letter before: in a word without rare pairs so far, with one, with
    // several.
    Plain0                     0        0        0        0        0        0        5;
    Plain1                     0        0        0        1        0       43      270;
    Plain2                     2       14       19       28       40      141      387;
    Plain3                   177      265      269      269      300      526      960;
    Plain4                   213      362      254      275      389      495     1141;
    Plain5                   694      774      675      706     1077     1194     1705;
    Uneven0                    0        0        0        0        0        0       26;
    Uneven1                   66       68       87       84       59      111      318;
    Uneven2                   92      122       70       92      158      186      495;
    Uneven3                  285      370      344      373      332      415      857;
    Uneven4                  811     1123     1029     1143     1000     1248     1842;
    Uneven5                  881     1227     1248     1192      902     1452     1412;
    Rough0                     0        0        0        0        0        0       59;
    Rough1                   116      148      208      191      154      222      553;
    Rough2                   243      283      279      307      293      325      577;
    Rough3                   545      721      798      757      558      709     1178;
    Rough4                  1157     1269     1515     1496     1194     1203     1196;
    Rough5                   925     1248     1295     1272      657      827      167;
    Foreign0                   0        0        0        0        0        1      127;
    Foreign1                  43      189      273      263      147      300      551;
    Foreign2                   0       65      216      139       98      459      627;
    Foreign3                 302      774      939      884      717     1178     1528;
    Foreign4                 422      857     1195     1151      877      804     1382;
    Foreign5                 688      981     1053     1339      823      735     1152;

    // Capitals after capitals, by seam.
    Caps0                     43       53       58       62       99       51      530;
    Caps1                    205      240      217      237      313      291      759;
    Caps2                    210       48       59       43      224       86      718;
    Caps3                    448      364      390      389      667      592     1155;
    Caps4                    663      931      862      819      750     1179      381;
    Caps5                    662      697      678      747      820     1762      390;

    // Accented letters of Latin-1, of the other blocks, and of Vietnamese.
    Accent                   503      858      548      662      666      559      457;
    AccentExtended           701     1092      497      683     1033      902      937;
    AccentAdditional           0      626        0        0      357     1108     1132;
    AfterAccent                0      429        0        0      353      399      377;

    // Digits, by their position in a group of three.
    DigitSpace               962      995      987      962      885     1234     1239;
    Digit1                   983      988      984      986      972      952      969;
    Digit2                     0        0        0      980        0        0        0;
    Digit3                     2       22       15     1041       10       76       70;

    // ASCII punctuation: the first of a run, a different character by seam, the same character repeated.
    Punct                    987      979      979      973      994     1064     1115;
    Pair0                     89       62       59       55      139      178      406;
    Pair1                    257      110      172      142      459      466     1105;
    Pair2                    880      874      785      866      847      835     1022;
    PunctSame                 89       71       74       79       79        0      159;
    PunctMore                 16       16       16       16       17       18       95;

    // White space. The `More` units are measured on runs of a thousand.
    /// A second consecutive space, within a line or at its start.
    Gap                      946      889      910      998      694      252      163;
    Indent                   868      868      869      876      866     1101      993;
    SpaceMore                  9        9        9        9        9       44       49;
    Tab                     1070     1061     1055     1047     1029     1092     1008;
    TabSecond                741      817      786      762      335        0        0;
    TabMore                   63       63       63       63      125       64       64;
    Newline                 1154      980     1068     1086     1111      644      633;
    NewlineAfterPunct          0        0        0        0        0      500      464;
    NewlineAfterWideMark      49        0       87       88        0        0        0;
    NewlineMore               63       32       32       32       63        9       32;
    Control                 1000     1000     1000     1000     1000     1000     1000;

    // Scripts whose words are split into pieces: the first letter of a word, a letter that continues a piece, one that starts
    // the next piece, and a letter that starts a piece but no token.
    ArabicFirst             1026     1426      923     1038      949     1526     1526;
    ArabicNext                 3      622      225      118      193      541      541;
    ArabicBreak              958     1040      857      963      880      899      899;
    ArabicRare              2000     2000     2000     1300     1975     3900     3900;
    CyrillicFirst           1009      993      922      940     1008     1013     1013;
    CyrillicNext               9      380      119      137      100      283      283;
    CyrillicBreak            999      846      944      984      918      673      673;
    CyrillicRare            2000     2000     1963     1505     1972     3900     3900;
    DevanagariFirst         1002     1815     1134     1763      928      705      705;
    DevanagariNext             3      989      436      923      632      913      913;
    DevanagariBreak          982     1482      728     1125      911     1203     1203;
    DevanagariRare          2000     2000     2000     1667     2000     3750     3750;
    HanFirst                 995     1728      912      637      539     1938     1938;
    HanNext                  110      381      263      201      224      802      802;
    HanBreak                 980     1385      982      724      674     1118     1118;
    HanRare                 2078     2292     2176     1770     1759     2548     2548;
    HangulFirst             1032     1876     1085     1206     1230     2137     2137;
    HangulNext               136      692      281      346      421     1032     1032;
    HangulBreak             1012     1417      956      982      996     1045     1045;
    HangulRare              2334     2670     2206     2003     2458     3340     3340;
    KanaFirst                987      853      607     1023     1120      329      329;
    KanaNext                  72      852      366       54      185      554      554;
    KanaBreak                920      842      765      800      742      832      832;
    KanaRare                   0        0        0        0        0        0        0;
    ThaiFirst               1292     1257     2964     2844     1743     3900     3900;
    ThaiNext                   0     1011      261      372       77      849      849;
    ThaiBreak               1055      808      617      578      781      713      713;
    ThaiRare                2000     2000     1800     1000     1800     3900     3900;
    /// Added for a space before a Chinese or Japanese character.
    WideSpace                359      219      412      962      704     1601     1686;




    // Other scripts: the first letter of a word, the next two, and the rest if it differs.
    GreekFirst               996     1234      992     1162      980     1170     1162;
    GreekNext                175      983      222      936      342      563      641;
    GreekLate                344     1036      363      996      482      716      704;
    CaucasianFirst           933     2767     2767     1818     1316     1372     1385;
    CaucasianNext            293     2004     2002     1002      728      659      658;
    HebrewFirst             1092     1459     1455     1095     1113     1356     1369;
    HebrewNext               334     1109     1107      329      449      702      707;
    BengaliFirst             916     2040     2026     1846      952     1253     1258;
    BengaliNext              290     1254     1249     1065      379     1002     1001;
    TamilFirst              1042     2040     2036     1877     1190     1583     1580;
    TamilNext                319     1453     1452     1130      535      856      856;
    TeluguFirst              987     1983     1982     1922     1207     1799     1782;
    TeluguNext               410     2003     2002     1626      800      946      949;
    OtherIndicFirst         1143     2498     2488     2566     1605     3022     3007;
    OtherIndicNext           351     1747     1740     1415      879     1110     1117;
    SouthEastAsianFirst      281     1963     2000     1226     1501     1910     1705;
    SouthEastAsianNext       614     1702     1701     1291     1125     1075     1085;

    // Symbols and emoji.
    WideMark                 784      887      889      909      858     1099     1099;
    Mark                     821      932      859     1056     1065      851     1173;
    MarkSame                1433     1475     1557     1823     2167     3264     3040;
    LatinSymbol              904     1038      974     1058      996     1164     1235;
    Symbol                  1648     1901     1924     1640     1215     3562     3588;
    Line                     812      612      627      590      792     1601     1662;
    LinePair                1779     1440     1056      851     1645     1369     1391;
    LineSame                 702     1010     1110     1029      721      352      263;
    LineMore                  63      125      125      125       63      251      251;
    Dingbat                 2187     2489     2492     1687     2302     3278     3278;
    Favorite                 884     1938     1911      826     1482     2118     2118;
    Pictograph              2004     2732     2726     1277     2122     2970     2970;
    RarePictograph          2769     2943     2922     2131     2589     3769     3769;
    /// Added for a space before a pictograph that otherwise shares bytes with a space.
    PictographSpace          868      259      270     1278      623      823      823;
    Joiner                  1162     2053     1106     1514      679     2187     2187;
    Selector                 824      724      638      841      455      478      478;
    Tone                    1611     3150     3156     1116     1667     3400     3400;

    // All other characters, by their length in bytes.
    Other2                  2000     2000     2000     1597     2000     2170     2170;
    Other3                  1997     2962     2958     1123     2284     1603     1603;
    Other4                  3603     3648     3608     2388     3417     4002     4002;
}

// The discriminant of a family is the index of its column.
const _: () = {
    assert!(FAMILIES.len() == TokenizerFamily::ALL.len());
    let mut i = 0;
    while i < FAMILIES.len() {
        assert!(FAMILIES[i] as usize == i);
        i += 1;
    }
};

#[rustfmt::skip]
impl Unit {
    /// A letter within a word, by how rough the word is so far, then by seam.
    pub(super) const NEXT: [[Self; letters::SEAMS]; 3] = [
        [Plain0, Plain1, Plain2, Plain3, Plain4, Plain5],
        [Uneven0, Uneven1, Uneven2, Uneven3, Uneven4, Uneven5],
        [Rough0, Rough1, Rough2, Rough3, Rough4, Rough5],
    ];

    /// A letter within a word without rare pairs so far, in a text with accents, by seam.
    pub(super) const FOREIGN: [Self; letters::SEAMS] =
        [Foreign0, Foreign1, Foreign2, Foreign3, Foreign4, Foreign5];

    /// A capital after a capital, by seam.
    pub(super) const CAPS: [Self; letters::SEAMS] = [Caps0, Caps1, Caps2, Caps3, Caps4, Caps5];

    /// Punctuation after a different character of punctuation, by seam.
    pub(super) const PAIRS: [Self; puncts::SEAMS] = [Pair0, Pair1, Pair2];

    /// Splits a word of `script` into its first letter, the next two, and the rest.
    pub(super) fn for_script(script: Script) -> [Self; 3] {
        match script {
            Script::Greek => [GreekFirst, GreekNext, GreekLate],
            Script::Caucasian => [CaucasianFirst, CaucasianNext, CaucasianNext],
            Script::Hebrew => [HebrewFirst, HebrewNext, HebrewNext],
            Script::Bengali => [BengaliFirst, BengaliNext, BengaliNext],
            Script::Tamil => [TamilFirst, TamilNext, TamilNext],
            Script::Telugu => [TeluguFirst, TeluguNext, TeluguNext],
            Script::OtherIndic => [OtherIndicFirst, OtherIndicNext, OtherIndicNext],
            _ => [SouthEastAsianFirst, SouthEastAsianNext, SouthEastAsianNext],
        }
    }

    /// Returns the units of a script whose words are split into pieces: for the first letter of a word, for a letter that
    /// continues a piece, for one that starts another, and for one that starts a piece but no token.
    #[inline]
    pub(super) fn for_pieces(script: Script) -> [Self; 4] {
        match script {
            Script::Arabic => [ArabicFirst, ArabicNext, ArabicBreak, ArabicRare],
            Script::Devanagari => [DevanagariFirst, DevanagariNext, DevanagariBreak, DevanagariRare],
            Script::Han => [HanFirst, HanNext, HanBreak, HanRare],
            Script::Hangul => [HangulFirst, HangulNext, HangulBreak, HangulRare],
            Script::Kana => [KanaFirst, KanaNext, KanaBreak, KanaRare],
            Script::Thai => [ThaiFirst, ThaiNext, ThaiBreak, ThaiRare],
            _ => [CyrillicFirst, CyrillicNext, CyrillicBreak, CyrillicRare],
        }
    }

    /// Returns the weight in `family`, in thousandths of a token.
    #[inline]
    pub(super) fn weight(self, family: TokenizerFamily) -> u16 {
        WEIGHTS[self as usize][family as usize]
    }
}
