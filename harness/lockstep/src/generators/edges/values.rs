//! The edge values of each kind of argument, and what check 7 of wire.md section 3 says of each.

use wire::{ArgKind, Enumeration, Reason};

/// Words at which some rule turns: the ends, the values of enumerations and bools and their neighbours, the same with a
/// high bit that a narrow read would lose, and those where a sign, a byte or a half word ends.
const WORDS: [u32; 22] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    255,
    256,
    257,
    65535,
    65536,
    65537,
    0x0100_0001,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0x8000_0002,
    0xFFFF_0001,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
];

/// Floats by their bits, and whether they are finite.
const FLOATS: [(&str, u32, bool); 19] = [
    ("0", 0, true),
    ("-0", 0x8000_0000, true),
    ("the smallest subnormal", 0x0000_0001, true),
    ("the smallest negative subnormal", 0x8000_0001, true),
    ("the largest subnormal", 0x007F_FFFF, true),
    ("the smallest normal", 0x0080_0000, true),
    ("the largest negative normal", 0x8080_0000, true),
    ("1", 0x3F80_0000, true),
    ("the next above 1", 0x3F80_0001, true),
    ("the largest", 0x7F7F_FFFF, true),
    ("minus the largest", 0xFF7F_FFFF, true),
    ("infinity", 0x7F80_0000, false),
    ("minus infinity", 0xFF80_0000, false),
    ("the first signalling NaN", 0x7F80_0001, false),
    ("the last signalling NaN", 0x7FBF_FFFF, false),
    ("a quiet NaN", 0x7FC0_0000, false),
    ("a negative quiet NaN", 0xFFC0_0000, false),
    ("the last NaN", 0x7FFF_FFFF, false),
    ("all ones", 0xFFFF_FFFF, false),
];

/// 2^53, the first u64 that a Number does not hold safely.
const UNSAFE: u64 = 1 << 53;

const LONGS: [u64; 22] = [
    0,
    1,
    2,
    4,
    8,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 1,
    UNSAFE - 8,
    UNSAFE - 2,
    UNSAFE - 1,
    UNSAFE,
    UNSAFE + 1,
    UNSAFE + 2,
    (1 << 54) - 1,
    1 << 54,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// The listed values of an enumeration: the second table of section 2.
fn listed(enumeration: &Enumeration) -> std::ops::RangeInclusive<u32> {
    match enumeration.name {
        "optional load-op" | "optional store-op" => 0..=2,
        "aspect" => 0..=3,
        // index-format, load-op and store-op of a color
        _ => 1..=2,
    }
}

/// An edge value of an argument.
pub struct Value {
    /// For a person.
    pub shown: String,
    /// Its word, or the two of a u64.
    pub words: Vec<u32>,
    /// What is due for it; for an id that is not 0, and a count within its limit, that is not for the value alone to say.
    pub reason: Option<Reason>,
}

/// The edge values of a kind of argument.
pub fn values(kind: &ArgKind) -> Vec<Value> {
    let words = |refused: &dyn Fn(u32) -> bool, reason| {
        let value = |&word: &u32| Value {
            shown: number(u64::from(word)),
            words: vec![word],
            reason: refused(word).then_some(reason),
        };
        WORDS.iter().map(value).collect()
    };
    match kind {
        ArgKind::U32 | ArgKind::I32 | ArgKind::OptionalId(_) => words(&|_| false, Reason::ZeroId),
        ArgKind::Id(_) => words(&|word| word == 0, Reason::ZeroId),
        ArgKind::Enum(enumeration) => words(&|word| !listed(enumeration).contains(&word), Reason::BadEnum),
        ArgKind::Bool | ArgKind::Optional(_) => words(&|word| word > 1, Reason::BadFlag),
        ArgKind::List { limit, .. } => words(&|word| word > *limit, Reason::TooMany),
        ArgKind::F32 => FLOATS.iter().map(float).collect(),
        ArgKind::U64 => LONGS.iter().map(long).collect(),
    }
}

fn float(&(name, bits, finite): &(&str, u32, bool)) -> Value {
    Value {
        shown: name.to_owned(),
        words: vec![bits],
        reason: (!finite).then_some(Reason::NonFinite),
    }
}

fn long(&value: &u64) -> Value {
    Value {
        shown: number(value),
        words: halves(value).into(),
        reason: (value >= UNSAFE).then_some(Reason::UnsafeInteger),
    }
}

/// Low, then high.
pub fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Small ones in decimal, others in hexadecimal, where an edge shows.
pub fn number(value: u64) -> String {
    if value < 1 << 17 {
        value.to_string()
    } else {
        format!("{value:#x}")
    }
}
