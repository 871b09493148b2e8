//! Edges of what is bytes and not words: the blob's header (section 1) and creation descriptors (section 7).

use wire::{Kind, Op, Reason};

use super::commands::{NOT_GRANTED, TO_ZERO, guest};
use super::draft::plain_host;
use super::host::reference_host;
use super::values::number;
use super::{Due, Edge, Edges};
use crate::case::StreamCase;
use crate::readers::answer::DescriptorAnswer;

const MAGIC: [u8; 4] = *b"WIRE";
const VERSION: u32 = 4;
/// Of the stream in most blobs here: BeginComputePass, EndPass.
const WORDS: [u32; 2] = [Op::BeginComputePass.word(), Op::EndPass.word()];
/// Its data. Five bytes, so that the blob's length is no multiple of 4.
const DATA: [u8; 5] = [1, 2, 3, 4, 5];

/// A blob, field by field.
#[derive(Clone, Copy)]
struct Header {
    magic: [u8; 4],
    version: u32,
    words: u32,
    data: u32,
}

impl Header {
    const RIGHT: Header = Header {
        magic: MAGIC,
        version: VERSION,
        words: WORDS.len() as u32,
        data: DATA.len() as u32,
    };

    /// The header, then the words and the data of this file, so many bytes of it all; 0 where there are no more.
    fn blob(self, length: usize) -> Vec<u8> {
        let mut blob = self.magic.to_vec();
        for word in [self.version, self.words, self.data].into_iter().chain(WORDS) {
            blob.extend(word.to_le_bytes());
        }
        blob.extend(DATA);
        blob.resize(length, 0);
        blob
    }

    /// Section 1, in its order.
    fn due(self, length: usize) -> Result<(), Reason> {
        let exact = 16 + 4 * u64::from(self.words) + u64::from(self.data);
        let checks = [
            (length < 16, Reason::BadLength),
            (self.magic != MAGIC, Reason::BadMagic),
            (self.version != VERSION, Reason::BadVersion),
            (length as u64 != exact, Reason::BadLength),
        ];
        checks
            .into_iter()
            .find(|check| check.0)
            .map_or(Ok(()), |check| Err(check.1))
    }

    fn edge(self, name: String, length: usize) -> Edge {
        Edge {
            family: "",
            name,
            case: StreamCase {
                blob: self.blob(length),
                ..plain_host()
            },
            due: Due {
                header: Some(self.due(length)),
                ..Due::default()
            },
        }
    }
}

/// Bytes of the right blob.
const WHOLE: usize = 16 + 4 * WORDS.len() + DATA.len();

pub fn headers() -> Edges {
    let lengths = (0..=WHOLE + 4).map(|length| Header::RIGHT.edge(format!("a blob of {length} bytes"), length));
    Box::new(
        lengths
            .chain(magics())
            .chain(versions())
            .chain(header_counts())
            .chain(header_faults())
            .chain(empty_streams()),
    )
}

fn magics() -> impl Iterator<Item = Edge> {
    let wrong = |at: usize| {
        let right = MAGIC[at];
        [right.wrapping_sub(1), right + 1, right ^ 0x20, right ^ 0x80, 0, 255].map(|byte| (at, byte))
    };
    let bytes = (0..4).flat_map(wrong).map(|(at, byte)| {
        let mut magic = MAGIC;
        magic[at] = byte;
        magic
    });
    let whole = [*b"ERIW", *b"wire", *b"RIFF", [0; 4], [255; 4]];
    bytes.chain(whole).map(|magic| {
        let header = Header { magic, ..Header::RIGHT };
        header.edge(format!("magic {:#010x}", u32::from_be_bytes(magic)), WHOLE)
    })
}

fn versions() -> impl Iterator<Item = Edge> {
    let versions = [0, 1, 2, 3, 5, 8, 0x104, 0x1_0004, 0x0400_0000, 0x8000_0004, u32::MAX];
    versions.into_iter().map(|version| {
        let header = Header {
            version,
            ..Header::RIGHT
        };
        header.edge(format!("version {}", number(u64::from(version))), WHOLE)
    })
}

/// The two counts about what is there, and where their sum wraps in 32 bits and in a float.
fn header_counts() -> impl Iterator<Item = Edge> {
    let words = [
        0,
        1,
        2,
        3,
        4,
        (1 << 30) - 1,
        1 << 30,
        (1 << 30) + 1,
        (1 << 30) + 2,
        1 << 31,
        (1 << 31) + 2,
        u32::MAX - 1,
        u32::MAX,
    ];
    let data: [u32; 12] = [
        0,
        1,
        4,
        5,
        6,
        9,
        13,
        1 << 31,
        u32::MAX - 11,
        u32::MAX - 6,
        u32::MAX - 2,
        u32::MAX,
    ];
    words.into_iter().flat_map(move |words| {
        data.map(|data| {
            let header = Header {
                words,
                data,
                ..Header::RIGHT
            };
            let [words, data] = [words, data].map(|count| number(u64::from(count)));
            header.edge(
                format!("{words} words and {data} bytes in a blob of {WHOLE} bytes"),
                WHOLE,
            )
        })
    })
}

/// Every set of header faults: the order of the four checks.
fn header_faults() -> impl Iterator<Item = Edge> {
    (0..32u32).map(|bits| {
        let bit = |at: u32| bits >> at & 1 == 1;
        let header = Header {
            magic: if bit(0) { *b"wire" } else { MAGIC },
            version: if bit(1) { 3 } else { VERSION },
            words: if bit(2) { 3 } else { 2 },
            ..Header::RIGHT
        };
        let length = match (bit(3), bit(4)) {
            (false, false) => WHOLE,
            (true, false) => WHOLE - 1,
            (false, true) => 15,
            (true, true) => 16,
        };
        let mut name = format!("together: {length} bytes");
        let wrongs = [
            (bit(0), "bad magic"),
            (bit(1), "bad version"),
            (bit(2), "a word too many"),
        ];
        for (_, wrong) in wrongs.iter().filter(|wrong| wrong.0) {
            name += &format!(", {wrong}");
        }
        header.edge(name, length)
    })
}

/// Streams of no words, with data and without: nothing is wrong with them.
fn empty_streams() -> impl Iterator<Item = Edge> {
    [0, 1, 3, 4, 5, 4096].into_iter().map(|data| Edge {
        family: "",
        name: format!("no words and {data} bytes of data"),
        case: StreamCase {
            blob: wire::encode_blob(&[], &vec![7; data]),
            ..plain_host()
        },
        due: Due {
            header: Some(Ok(())),
            decode: Some(Ok(Vec::new())),
            remap: Some(Ok(Vec::new())),
            ranges: Some(Ok(())),
            read_check: Some(Ok(())),
            descriptor: None,
        },
    })
}

/// The most references of a descriptor.
const LIMIT: u32 = 4096;

/// The edge of a descriptor, with an empty stream.
fn descriptor(name: String, case: StreamCase, bytes: Vec<u8>) -> Edge {
    let answer = descriptor_due(&case, &bytes);
    Edge {
        family: "",
        name,
        case: StreamCase {
            blob: wire::encode_blob(&[], &[]),
            descriptors: vec![bytes],
            ..case
        },
        due: Due {
            header: Some(Ok(())),
            descriptor: Some(answer),
            ..Due::default()
        },
    }
}

/// Section 7: Split, then RemapDescriptor.
fn descriptor_due(case: &StreamCase, bytes: &[u8]) -> DescriptorAnswer {
    let refused = |reason| DescriptorAnswer {
        split: Err(reason),
        remap: None,
    };
    let Some(count) = bytes.first_chunk().map(|four| u32::from_le_bytes(*four)) else {
        return refused(Reason::Truncated);
    };
    if count > LIMIT {
        return refused(Reason::TooMany);
    }
    let body = 4 + 4 * count as usize;
    if bytes.len() < body {
        return refused(Reason::Truncated);
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let refs: Vec<u32> = (0..count as usize).map(|index| word(4 + 4 * index)).collect();
    let granted = |id: u32| case.id_map.iter().find(|pair| pair.0 == id).map_or(0, |pair| pair.1);
    let unknown = refs.iter().position(|&id| id != 0 && granted(id) == 0);
    let rewritten = || {
        let words = refs.iter().map(|&id| if id == 0 { 0 } else { granted(id) });
        let all = std::iter::once(count).chain(words);
        all.flat_map(u32::to_le_bytes)
            .chain(bytes[body..].iter().copied())
            .collect()
    };
    DescriptorAnswer {
        remap: Some(match unknown {
            Some(index) => Err((Reason::UnknownId, index as u32)),
            None => Ok(rewritten()),
        }),
        split: Ok((refs, bytes[body..].to_vec())),
    }
}

/// A count, so many references that are granted, a body.
fn written(count: u32, references: u32, body: &[u8]) -> Vec<u8> {
    let words = std::iter::once(count).chain(std::iter::repeat_n(guest(Kind::Buffer), references as usize));
    words.flat_map(u32::to_le_bytes).chain(body.iter().copied()).collect()
}

pub fn counts() -> Edges {
    let claims = [
        LIMIT + 2,
        8192,
        65536,
        (1 << 28) + 1,
        (1 << 30) - 1,
        1 << 30,
        (1 << 30) + 1,
        1 << 31,
        u32::MAX - 1,
        u32::MAX,
    ];
    let wholes = [0, 1, 2, LIMIT - 1, LIMIT, LIMIT + 1].map(|count| (count, count));
    let shorts = [1, 2, LIMIT - 1, LIMIT, LIMIT + 1].map(|count| (count, count - 1));
    let nones = std::iter::once(LIMIT).chain(claims).map(|count| (count, 0));
    let rows = wholes
        .into_iter()
        .chain(shorts)
        .chain(nones)
        .chain(claims.map(|count| (count, 2)));
    let bodies: [&[u8]; 4] = [&[], &[0], b"{}", &[255; 5]];
    let counted = rows.flat_map(move |(count, there)| {
        bodies.map(|body| {
            let name = format!(
                "a count of {}, {there} references, {} bytes more",
                number(u64::from(count)),
                body.len()
            );
            descriptor(name, plain_host(), written(count, there, body))
        })
    });
    let whole = written(3, 3, b"{\"a\":1}");
    let cuts = (0..whole.len()).map(move |length| {
        let name = format!("a descriptor of three references cut to {length} bytes");
        descriptor(name, plain_host(), whole[..length].to_vec())
    });
    Box::new(counted.chain(cuts).chain(last_references()))
}

/// The first and the last of the most references, not granted.
fn last_references() -> Vec<Edge> {
    let edge = |index: u32| {
        let mut bytes = written(LIMIT, LIMIT, b"{}");
        let at = 4 + 4 * index as usize;
        bytes[at..at + 4].copy_from_slice(&NOT_GRANTED.to_le_bytes());
        let name = format!("reference {index} of {LIMIT} not granted");
        descriptor(name, plain_host(), bytes)
    };
    [0, 1, LIMIT - 2, LIMIT - 1].map(edge).into()
}

/// What a reference may be, for the host of [`reference_host`].
const REFERENCES: [(&str, u32); 7] = [
    ("0", 0),
    ("granted", 16 + Kind::Buffer.word()),
    ("granted as itself", 200),
    ("granted as 2^32 - 1", 201),
    ("2^32 - 1", u32::MAX),
    ("granted as 0", TO_ZERO),
    ("not granted", NOT_GRANTED),
];

pub fn references() -> Edges {
    let all = REFERENCES;
    Box::new(all.into_iter().flat_map(move |a| {
        all.into_iter().flat_map(move |b| {
            all.map(|c| {
                let words = [3, a.1, b.1, c.1].into_iter();
                let bytes = words.flat_map(u32::to_le_bytes).chain(*b"{}").collect();
                let name = format!("references {}, {}, {}", a.0, b.0, c.0);
                descriptor(name, reference_host(), bytes)
            })
        })
    }))
}
