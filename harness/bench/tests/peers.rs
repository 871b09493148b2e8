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
    // A read of 0 bytes, a pass that stays open, a draw outside of any pass, a write past the data: well formed in every other way.
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
