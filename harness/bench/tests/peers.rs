//! The peers carry the same commands, and hold them to the same rules.

use lockstep_bench::peers::PEERS;
use lockstep_bench::peers::command::Command;
use lockstep_bench::streams::{DATA_LEN, generated};

fn commands(words: &[u32]) -> Vec<Command> {
    let cmds = wire::commands(words, DATA_LEN).map_while(Result::ok);
    cmds.map(Command::of).collect()
}

#[test]
fn every_peer_gives_the_commands_again() {
    for kind in ["render", "compute", "upload"] {
        let words = generated(kind, 64 << 10).words;
        let commands = commands(&words);
        let mut again = Vec::new();
        commands.iter().for_each(|command| command.put(&mut again));
        assert_eq!(again, words, "{kind}");
        for peer in PEERS {
            let bytes = (peer.encode)(&commands);
            assert_eq!((peer.decode)(&bytes), commands, "{}, {kind}", peer.name);
            assert_eq!(
                (peer.read)(&bytes, DATA_LEN),
                Some(commands.len()),
                "{}, {kind}",
                peer.name
            );
        }
    }
}

#[test]
fn every_peer_refuses_what_decode_refuses() {
    // A read of 0 bytes, a pass that stays open, a draw outside of any pass, a write past the data: well formed in
    // every other way.
    for words in [
        &[34, 1, 0, 0, 0, 0][..],
        &[22],
        &[3, 1, 1, 0, 0],
        &[30, 1, 0, 0, DATA_LEN, 4],
    ] {
        assert!(wire::decode(words, DATA_LEN).is_err());
        let op = wire::Op::from_word(words[0]).unwrap();
        let command = Command::of(wire::Cmd {
            word: 0,
            op,
            args: &words[1..],
        });
        for peer in PEERS {
            let bytes = (peer.encode)(std::slice::from_ref(&command));
            assert_eq!((peer.read)(&bytes, DATA_LEN), None, "{}, {op}", peer.name);
        }
    }
}

/// Words that some rule turns on: 0, what is no bool or enumeration, what is no multiple of 4, an infinity, a high word
/// past 2^53.
const SPOILT: [u32; 6] = [0, 2, 3, 4, 0x7F80_0000, u32::MAX];

#[test]
fn every_peer_decides_as_decode_does_over_a_spoilt_word() {
    let mut verdicts = [0, 0];
    for kind in ["render", "compute", "upload"] {
        // One frame.
        let words = generated(kind, 4).words;
        let (cmds, commands) = (wire::decode(&words, DATA_LEN).unwrap(), commands(&words));
        let mut tried = Vec::new();
        for (index, cmd) in cmds.iter().enumerate() {
            if tried.contains(&cmd.op) {
                continue;
            }
            tried.push(cmd.op);
            for (at, value) in (0..cmd.args.len()).flat_map(|at| SPOILT.map(|value| (at, value))) {
                // With another count or flag these would not be the words of one command.
                if let (wire::Op::SetBindGroup, 2) | (wire::Op::BeginRenderPass, 0 | 9) = (cmd.op, at) {
                    continue;
                }
                let mut spoilt = words.clone();
                spoilt[cmd.word + 1 + at] = value;
                let accepted = wire::decode(&spoilt, DATA_LEN).is_ok();
                verdicts[usize::from(accepted)] += 1;
                let mut commands = commands.clone();
                let args = &spoilt[cmd.word + 1..][..cmd.args.len()];
                commands[index] = Command::of(wire::Cmd { args, ..*cmd });
                for peer in PEERS {
                    let read = (peer.read)(&(peer.encode)(&commands), DATA_LEN);
                    assert_eq!(
                        read.is_some(),
                        accepted,
                        "{}, {}, argument {at} = {value}",
                        peer.name,
                        cmd.op
                    );
                }
            }
        }
    }
    assert!(verdicts.iter().all(|&count| count > 100), "{verdicts:?}");
}
