//! What readers of streams say, in the canonical bytes of `reference/PROTOCOL.md` and as a person reads it.

use wire::{Op, Read, Reason, Rule, Strict};

/// Writes an answer's numbers.
#[derive(Default)]
pub struct AnswerWriter {
    bytes: Vec<u8>,
}

impl AnswerWriter {
    /// One number.
    pub fn word(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    /// A length and that many bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.bytes.extend_from_slice(bytes);
    }

    /// A count and that many numbers.
    pub fn words(&mut self, words: &[u32]) {
        self.word(words.len() as u32);
        self.bytes.reserve(4 * words.len());
        for &word in words {
            self.word(word);
        }
    }

    /// The answer.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// A stream answer, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamAnswer {
    /// The blob's header.
    pub blob: Result<(), Reason>,
    /// Decode: the word index of each command. Absent when the blob was refused, as is everything below.
    pub decode: Option<Result<Vec<u32>, Refused>>,
    /// Remap: the words, rewritten.
    pub remap: Option<Result<Vec<u32>, Refused>>,
    /// The reads of RemapReads. Absent when Remap refused, as is everything below.
    pub reads: Option<Vec<Read>>,
    /// CheckRanges.
    pub ranges: Option<Result<(), Refused>>,
    /// The read check.
    pub read_check: Option<Result<(), Refused>>,
}

/// A refusal: what it is about (a word, a command or a read, from 0), the opcode and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Refused {
    /// The index of the word, command or read.
    pub at: u32,
    /// The opcode, none for an unknown one and for a read.
    pub op: Option<Op>,
    /// Why.
    pub reason: Reason,
}

/// An answer that does not have the shape that PROTOCOL.md gives it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer is not one of PROTOCOL.md: {what} at byte {at}")]
pub struct NotAnAnswer {
    /// What is wrong.
    pub what: &'static str,
    /// Where.
    pub at: usize,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn fail<T>(&self, what: &'static str) -> Result<T, NotAnAnswer> {
        Err(NotAnAnswer { what, at: self.at })
    }

    fn word(&mut self) -> Result<u32, NotAnAnswer> {
        match self.bytes.get(self.at..self.at + 4) {
            Some(four) => {
                self.at += 4;
                Ok(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            }
            None => self.fail("it ends early"),
        }
    }

    fn words(&mut self) -> Result<Vec<u32>, NotAnAnswer> {
        let count = self.word()? as usize;
        if count > (self.bytes.len() - self.at) / 4 {
            return self.fail("a count past its end");
        }
        (0..count).map(|_| self.word()).collect()
    }

    fn bytes(&mut self) -> Result<Vec<u8>, NotAnAnswer> {
        let count = self.word()? as usize;
        match self.bytes.get(self.at..self.at.saturating_add(count)) {
            Some(bytes) => {
                self.at += count;
                Ok(bytes.to_vec())
            }
            None => self.fail("a length past its end"),
        }
    }

    fn reason(&mut self) -> Result<Reason, NotAnAnswer> {
        match Reason::from_word(self.word()?) {
            Some(reason) => Ok(reason),
            None => self.fail("no such reason"),
        }
    }

    fn op(&mut self) -> Result<Option<Op>, NotAnAnswer> {
        match self.word()? {
            0 => Ok(None),
            word => match Op::from_word(word) {
                Some(op) => Ok(Some(op)),
                None => self.fail("no such opcode"),
            },
        }
    }

    fn refused(&mut self) -> Result<Refused, NotAnAnswer> {
        Ok(Refused {
            at: self.word()?,
            op: self.op()?,
            reason: self.reason()?,
        })
    }

    /// A part: 0 and what `accepted` reads, or 1 and what `refused` reads.
    fn part<T, E>(
        &mut self,
        accepted: impl FnOnce(&mut Self) -> Result<T, NotAnAnswer>,
        refused: impl FnOnce(&mut Self) -> Result<E, NotAnAnswer>,
    ) -> Result<Result<T, E>, NotAnAnswer> {
        match self.word()? {
            0 => accepted(self).map(Ok),
            1 => refused(self).map(Err),
            _ => self.fail("a part that is neither accepted nor refused"),
        }
    }

    fn end(&self) -> Result<(), NotAnAnswer> {
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            self.fail("it goes on past its end")
        }
    }
}

impl StreamAnswer {
    /// Takes an answer apart; refuses bytes that are none.
    pub fn parse(bytes: &[u8]) -> Result<StreamAnswer, NotAnAnswer> {
        let mut from = Reader { bytes, at: 0 };
        let mut answer = StreamAnswer {
            blob: Ok(()),
            decode: None,
            remap: None,
            reads: None,
            ranges: None,
            read_check: None,
        };
        answer.blob = from.part(|_| Ok(()), Reader::reason)?;
        if answer.blob.is_ok() {
            answer.decode = Some(from.part(Reader::words, Reader::refused)?);
            let remap = from.part(Reader::words, Reader::refused)?;
            if remap.is_ok() {
                answer.reads = Some(reads(&mut from)?);
                answer.ranges = Some(from.part(|_| Ok(()), Reader::refused)?);
                answer.read_check = Some(from.part(
                    |_| Ok(()),
                    |from| {
                        Ok(Refused {
                            at: from.word()?,
                            op: None,
                            reason: from.reason()?,
                        })
                    },
                )?);
            }
            answer.remap = Some(remap);
        }
        from.end()?;
        Ok(answer)
    }
}

fn reads(from: &mut Reader<'_>) -> Result<Vec<Read>, NotAnAnswer> {
    let count = from.word()? as usize;
    if count > (from.bytes.len() - from.at) / 20 {
        return from.fail("a count past its end");
    }
    (0..count)
        .map(|_| {
            let id = from.word()?;
            let offset = u64::from(from.word()?) | u64::from(from.word()?) << 32;
            Ok(Read {
                id,
                offset,
                size: from.word()?,
                window_offset: from.word()?,
            })
        })
        .collect()
}

/// A descriptor answer, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorAnswer {
    /// Split: references and body.
    pub split: Result<(Vec<u32>, Vec<u8>), Reason>,
    /// RemapDescriptor: the bytes rewritten, or the reason and the reference's index. Absent when Split refused.
    pub remap: Option<Result<Vec<u8>, (Reason, u32)>>,
}

impl DescriptorAnswer {
    /// Takes an answer apart; refuses bytes that are none.
    pub fn parse(bytes: &[u8]) -> Result<DescriptorAnswer, NotAnAnswer> {
        let mut from = Reader { bytes, at: 0 };
        let split = from.part(|from| Ok((from.words()?, from.bytes()?)), Reader::reason)?;
        let remap = match split {
            Ok(_) => Some(from.part(Reader::bytes, |from| Ok((from.reason()?, from.word()?)))?),
            Err(_) => None,
        };
        from.end()?;
        Ok(DescriptorAnswer { split, remap })
    }
}

/// What a strict check says of a stream and of the table that it is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrictAnswer {
    /// The first render bundle of the table that it refuses, by id, and why, in the bundle's own words.
    pub bundle: Option<(u32, Strict)>,
    /// Its refusal of the stream.
    pub stream: Option<Strict>,
}

/// An answer of the strict check.
///
/// # Errors
///
/// Bytes that are none.
pub fn parse_strict(bytes: &[u8]) -> Result<StrictAnswer, NotAnAnswer> {
    let mut from = Reader { bytes, at: 0 };
    let bundle = from.part(|_| Ok(()), |from| Ok((from.word()?, from.strict()?)))?.err();
    let stream = from.part(|_| Ok(()), Reader::strict)?.err();
    from.end().map(|()| StrictAnswer { bundle, stream })
}

impl Reader<'_> {
    fn strict(&mut self) -> Result<Strict, NotAnAnswer> {
        let (command, word) = (self.word()? as usize, self.word()? as usize);
        let Some(op) = self.op()? else {
            return self.fail("no opcode");
        };
        let number = self.word()? as usize;
        match Rule::ALL.get(number.wrapping_sub(1)) {
            Some(&rule) => Ok(Strict {
                command,
                op,
                word,
                rule,
            }),
            None => self.fail("no such rule"),
        }
    }
}
