//! The units of a text, and the number of tokens that each is worth.
//!
//! The weights are the result of a non-negative least-squares fit against the counts of each family's own tokenizer on
//! 1 250 passages (1.8 million characters: prose in forty languages, source code, markup, JSON, logs, identifiers,
//! emoji), both complete and split into pieces of about 65 characters. All kinds of text have the same influence,
//! except that those typical of conversations have more. Each weight is regularized towards the share of tokens that
//! really start at its unit, so that it is plausible by itself. On 1 228 held-out passages, the error of a single
//! passage is 6 to 7 % (root mean square, by family). The samples of the tests belong to neither set.

use super::class::Script;
use super::family::TokenizerFamily;
use super::{han, hangul, letters, puncts};

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
    Foreign1                  71      189      273      263      147      300      551;
    Foreign2                   0       65      216      139       98      459      627;
    Foreign3                 504      774      939      884      717     1178     1528;
    Foreign4                 704      857     1195     1151      877      804     1382;
    Foreign5                1146      981     1053     1339      823      735     1152;

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

    // Chinese, by seam: after a character that usually continues a token (`HanEven`), or starts one (`HanOdd`).
    HanFirst                 961     1257     1003     1083     1030      990      960;
    HanAfterKana            1093     1522      986     1051      917     1087     1094;
    HanEven0                 427      529      429      325      332      836      871;
    HanEven1                 469      865      616      321      288      962      968;
    HanEven2                 676      759      773      554      454     1049     1061;
    HanEven3                1034     1335     1014      877      815     1341     1409;
    HanOdd0                  100      509      198       29        0      590      590;
    HanOdd1                  543      903      597      312      219      759      734;
    HanOdd2                  699     1097      760      463      410     1147     1093;
    HanOdd3                 1312     2065     1231      999      931     1416     1407;
    /// Added for a space before a Chinese or Japanese character.
    WideSpace                359      219      412      962      704     1601     1686;

    // Japanese.
    HiraganaFirst            898      984      816      781      812      815      813;
    HiraganaNext             589      900      444      370      442      756      752;
    KatakanaFirst            636      823      682      582      575      419      432;
    KatakanaNext             458      844      513      414      461      690      681;

    // Korean.
    HangulFirst0             937     1284      991     1155     1027     1931     1952;
    HangulFirst1            1051     1424     1009     1098     1069     1927     1921;
    HangulFirst2             965     1194      969     1012      970     1717     1711;
    HangulFirst3            1114     1766     1139     1378     1282     2220     2217;
    HangulEven0                9        5      115        0        0      819      786;
    HangulEven1              599     1012      629      681      747     1100     1106;
    HangulEven2              706     1194      730      809      754     1136     1130;
    HangulEven3              854     1482      942      844      862     1222     1230;
    HangulOdd0               240      515      279      346      362      976     1000;
    HangulOdd1               638     1267      705      773      921     1102     1101;
    HangulOdd2               780     1154      781      846      859     1132     1129;
    HangulOdd3              1516     2790     1474     1370     1888     1578     1560;

    // Cyrillic.
    CyrillicFirst            978     1021      986      998      999     1009     1005;
    CyrillicPlain0             0      141       56        0        0      344      293;
    CyrillicPlain1             0      191        0       19        0        0        0;
    CyrillicPlain2             0      324       57        0        0      321      290;
    CyrillicPlain3           158      690      189      348      238      296      274;
    CyrillicPlain4           188      962      344      376      406      562      641;
    CyrillicPlain5           651     1407      200     1393     1157      752      781;
    CyrillicUneven0            5        0        0       41      104      154      136;
    CyrillicUneven1            0      321        0        0        5      219      213;
    CyrillicUneven2            0      395      196        2        0      413      494;
    CyrillicUneven3           86      538      225      153      116      756      781;
    CyrillicUneven4          253      629      480      260      209      866      964;
    CyrillicUneven5          890     1199      840     1187     1233      805      852;
    CyrillicRough0             0        0        0        0        0       64       82;
    CyrillicRough1            59      106      155        0       24      127      117;
    CyrillicRough2           344      569      482      450      396      418      406;
    CyrillicRough3           232      441      406      391      287      449      439;
    CyrillicRough4           310      808      294      620      339      289      314;
    CyrillicRough5           680     1417      379     1390     1030      452      486;

    // Other scripts: the first letter of a word, the next two, and the rest if it differs.
    GreekFirst               996     1234      992     1162      980     1170     1162;
    GreekNext                175      983      222      936      342      563      641;
    GreekLate                344     1036      363      996      482      716      704;
    ArabicFirst              984     1190     1003     1170     1013     1181     1177;
    ArabicNext                76     1051      279      632      296      850      848;
    ArabicLate               324      572      291      100      291      552      554;
    CaucasianFirst           933     2767     2767     1818     1316     1372     1385;
    CaucasianNext            293     2004     2002     1002      728      659      658;
    HebrewFirst             1092     1459     1455     1095     1113     1356     1369;
    HebrewNext               334     1109     1107      329      449      702      707;
    DevanagariFirst          832     1573      955     1526      927      960      961;
    DevanagariNext           284     1111      546     1012      629      863      867;
    BengaliFirst             916     2040     2026     1846      952     1253     1258;
    BengaliNext              290     1254     1249     1065      379     1002     1001;
    TamilFirst              1042     2040     2036     1877     1190     1583     1580;
    TamilNext                319     1453     1452     1130      535      856      856;
    TeluguFirst              987     1983     1982     1922     1207     1799     1782;
    TeluguNext               410     2003     2002     1626      800      946      949;
    OtherIndicFirst         1143     2498     2488     2566     1605     3022     3007;
    OtherIndicNext           351     1747     1740     1415      879     1110     1117;
    ThaiFirst                860     1498     1040     1297     1130     2396     2491;
    ThaiNext                 404      959      444      518      339      838      836;
    SouthEastAsianFirst      281     1963     2000     1226     1501     1910     1705;
    SouthEastAsianNext       614     1702     1701     1291     1125     1075     1085;

    // Symbols and emoji.
    WideMark                1057     1125     1055     1066     1075     1811     1877;
    Mark                     821      932      859     1056     1065      851     1173;
    MarkSame                1433     1475     1557     1823     2167     3264     3040;
    LatinSymbol              904     1038      974     1058      996     1164     1235;
    Symbol                  1648     1901     1924     1640     1215     3562     3588;
    Line                     812      612      627      590      792     1601     1662;
    LinePair                1779     1440     1056      851     1645     1369     1391;
    LineSame                 702     1010     1110     1029      721      352      263;
    LineMore                  63      125      125      125       63      251      251;
    Dingbat                 1492     2096     2029     1308     1471     2979     2830;
    Face                    1396     2169     2171     1306     1908     2582     2517;
    Pictograph              1838     2692     2671      941     1898     2151     2089;
    RarePictograph          2314     3054     3019     1613     2287     3374     3410;
    Joiner                   566     1424      513     1219      522      733      622;
    Selector                 746      901      838      350      794      232      364;
    Tone                    1634     3209     3259     1371     1880     3601     3675;

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

    /// A Chinese character after another, by half the seam of the other, then by its own.
    pub(super) const HAN: [[Self; han::SEAMS]; 2] = [
        [HanEven0, HanEven1, HanEven2, HanEven3],
        [HanOdd0, HanOdd1, HanOdd2, HanOdd3],
    ];

    /// The first syllable of a Korean word, by its seam.
    pub(super) const HANGUL_FIRST: [Self; hangul::SEAMS] =
        [HangulFirst0, HangulFirst1, HangulFirst2, HangulFirst3];

    /// A Korean syllable after another, by half the seam of the other, then by its own.
    pub(super) const HANGUL: [[Self; hangul::SEAMS]; 2] = [
        [HangulEven0, HangulEven1, HangulEven2, HangulEven3],
        [HangulOdd0, HangulOdd1, HangulOdd2, HangulOdd3],
    ];

    /// A letter within a Cyrillic word, by how rough the word is so far, then by seam.
    pub(super) const CYRILLIC: [[Self; letters::SEAMS]; 3] = [
        [CyrillicPlain0, CyrillicPlain1, CyrillicPlain2, CyrillicPlain3, CyrillicPlain4, CyrillicPlain5],
        [CyrillicUneven0, CyrillicUneven1, CyrillicUneven2, CyrillicUneven3, CyrillicUneven4, CyrillicUneven5],
        [CyrillicRough0, CyrillicRough1, CyrillicRough2, CyrillicRough3, CyrillicRough4, CyrillicRough5],
    ];

    /// Splits a word of `script` into its first letter, the next two, and the rest.
    pub(super) fn for_script(script: Script) -> [Self; 3] {
        match script {
            Script::Greek => [GreekFirst, GreekNext, GreekLate],
            Script::Arabic => [ArabicFirst, ArabicNext, ArabicLate],
            Script::Caucasian => [CaucasianFirst, CaucasianNext, CaucasianNext],
            Script::Hebrew => [HebrewFirst, HebrewNext, HebrewNext],
            Script::Devanagari => [DevanagariFirst, DevanagariNext, DevanagariNext],
            Script::Bengali => [BengaliFirst, BengaliNext, BengaliNext],
            Script::Tamil => [TamilFirst, TamilNext, TamilNext],
            Script::Telugu => [TeluguFirst, TeluguNext, TeluguNext],
            Script::OtherIndic => [OtherIndicFirst, OtherIndicNext, OtherIndicNext],
            Script::Thai => [ThaiFirst, ThaiNext, ThaiNext],
            Script::SouthEastAsian => [SouthEastAsianFirst, SouthEastAsianNext, SouthEastAsianNext],
        }
    }

    /// Returns the weight in `family`, in thousandths of a token.
    #[inline]
    pub(super) fn weight(self, family: TokenizerFamily) -> u16 {
        WEIGHTS[self as usize][family as usize]
    }
}
