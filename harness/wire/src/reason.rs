//! Why a stream, a blob or a descriptor is refused.

use crate::word_enum::word_enum;

word_enum! {
    /// The one reason of a refusal. The numbers are those of PROTOCOL.md; 14 is not used.
    pub enum Reason {
        /// A blob shorter than its header, or not exactly as long as the header says (section 1).
        BadLength = 1, "bad-length";
        /// A blob that does not start with `WIRE` (section 1).
        BadMagic = 2, "bad-magic";
        /// A blob of another version than [`STREAM_VERSION`](crate::STREAM_VERSION) (section 1).
        BadVersion = 3, "bad-version";
        /// An opcode that is not in the table (section 3, check 1).
        UnknownOp = 4, "unknown-op";
        /// A command that may not stand where it stands (section 3, check 2).
        WrongContext = 5, "wrong-context";
        /// Words (section 3, checks 3, 5 and 6) or bytes of a descriptor (section 7) that are not there.
        Truncated = 6, "truncated";
        /// A count over its limit (section 3, check 4; section 7).
        TooMany = 7, "too-many";
        /// An id of 0 where one is needed (section 3, check 7).
        ZeroId = 8, "zero-id";
        /// A word that is no value of its enumeration (section 3, check 7).
        BadEnum = 9, "bad-enum";
        /// A bool that is neither 0 nor 1 (section 3, checks 6 and 7).
        BadFlag = 10, "bad-flag";
        /// A float that is infinite or not a number (section 3, check 7).
        NonFinite = 11, "non-finite";
        /// A u64 over 2^53 - 1 (section 3, check 7).
        UnsafeInteger = 12, "unsafe-integer";
        /// Bytes of a write that lie outside the stream's data (section 3, check 8).
        DataRange = 13, "data-range";
        /// A WriteBuffer whose length is no multiple of 4 (section 3, check 9).
        WriteSize = 15, "write-size";
        /// A ReadBuffer whose offset is no multiple of 8 (section 3, check 10).
        ReadAlignment = 16, "read-alignment";
        /// A ReadBuffer whose size is 0 or no multiple of 4 (section 3, check 10).
        ReadSize = 17, "read-size";
        /// A ReadBuffer that ends past 64 MiB of read window (section 3, check 10).
        ReadWindow = 18, "read-window";
        /// An id that the remap function does not grant, or would replace by 0 (sections 3 and 7).
        UnknownId = 19, "unknown-id";
        /// A pass that is still open after the last command (section 3).
        OpenPass = 20, "open-pass";
        /// An id that names no buffer (sections 5 and 6).
        NotABuffer = 21, "not-a-buffer";
        /// A range that ends past its buffer (sections 5 and 6).
        OutOfRange = 22, "out-of-range";
        /// A Dispatch over the bound (section 5).
        TooManyWorkgroups = 23, "too-many-workgroups";
        /// A read from a buffer without MAP_READ (section 6).
        NoMapRead = 24, "no-map-read";
        /// A read that ends past the window that was granted (section 6).
        PastWindow = 25, "past-window";
        /// A descriptor that does not describe an object of its kind (section 7). Given by a replayer only.
        BadDescriptor = 26, "bad-descriptor";
        /// An id that names nothing, or an object of another kind (section 4). Given by a replayer only.
        WrongKind = 27, "wrong-kind";
        /// A call that threw (section 4). Given by a replayer only.
        Threw = 28, "threw";
    }
}
