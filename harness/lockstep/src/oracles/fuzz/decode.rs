//! Any bytes as a blob: Decode, Remap under the identity, RemapReads and their forms for bundles, without what a host knows.
//!
//! **Catches** a panic; a blob that does not encode back byte for byte; Decode, its iterator and Remap that do not refuse alike; commands
//! that overlap, leave a word out or are not the stream's words; a refusal of a word that is not there; reads that are not the stream's.
//! **Does not catch** a rule that Decode and Remap have wrong alike: `streams` and `replay_js` do.

use wire::{Blob, Cmd, Op, Read, Reason, Refusal};

/// A Decode.
pub type Decode = for<'a> fn(&'a [u32], u32) -> Result<Vec<Cmd<'a>>, Refusal>;

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, wire::decode)
}

/// The same with another Decode.
pub fn check_with(bytes: &[u8], decode: Decode) -> bool {
    let Ok(Blob { words, data }) = Blob::parse(bytes) else {
        return true;
    };
    assert_eq!(wire::encode_blob(&words, data), bytes, "a blob encodes back");
    let data_len = data.len() as u32;
    let decoded = decode(&words, data_len);
    let mut rewritten = words.clone();
    let reads = wire::remap_reads(&mut rewritten, data_len, Some);
    // wire.md section 3: "for a function that grants every id a nonzero replacement the two give the same answer".
    assert_eq!(rewritten, words, "Remap under the identity changes nothing");
    assert_eq!(
        reads.as_ref().err(),
        decoded.as_ref().err(),
        "Decode and Remap refuse alike"
    );
    match &decoded {
        Ok(cmds) => {
            covers(&words, cmds);
            assert!(wire::commands(&words, data_len).eq(cmds.iter().copied().map(Ok)));
            assert_eq!(
                reads.unwrap_or_default(),
                cmds.iter().filter_map(read).collect::<Vec<_>>()
            );
        }
        Err(refusal) => {
            assert_eq!(wire::commands(&words, data_len).find_map(Result::err), Some(*refusal));
            is_there(&words, refusal);
        }
    }
    bundle(&mut rewritten);
    true
}

/// The commands are the stream's words, one after the other, from the first to the last.
fn covers(words: &[u32], cmds: &[Cmd<'_>]) {
    let mut end = 0;
    for cmd in cmds {
        assert_eq!(cmd.word, end, "a command begins where the one before it ends");
        assert_eq!(words[end], cmd.op as u32, "a command's opcode");
        end += 1 + cmd.args.len();
        assert_eq!(&words[cmd.word + 1..end], cmd.args, "a command's arguments");
    }
    assert_eq!(end, words.len(), "the commands are all of the stream");
}

fn read(cmd: &Cmd<'_>) -> Option<Read> {
    (cmd.op == Op::ReadBuffer).then(|| Read {
        id: cmd.args[0],
        offset: cmd.u64_at(1),
        size: cmd.args[3],
        window_offset: cmd.args[4],
    })
}

/// The refusal names a word of the stream, and an opcode just where the word is one.
fn is_there(words: &[u32], refusal: &Refusal) {
    let word = words[refusal.word];
    assert_eq!(refusal.op.is_none(), refusal.reason == Reason::UnknownOp);
    if refusal.op.is_none() {
        assert_eq!(Op::from_word(word), None, "an unknown opcode is none");
    }
}

/// The words as a render bundle's.
fn bundle(words: &mut [u32]) {
    let decoded = wire::decode_bundle(words).map(|cmds| covers(words, &cmds)).err();
    assert_eq!(
        wire::remap_bundle(words, Some).err(),
        decoded,
        "a bundle's Decode and Remap refuse alike"
    );
}
