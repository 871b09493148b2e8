//! Runs one counted loop once, for callgrind: `lockstep-bench LOOP KIND`. Prints how many commands the stream has.

use std::process::ExitCode;

use lockstep_bench::hot::COUNTED;
use lockstep_bench::streams::generated;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let run = match &arguments[..] {
        [name, kind] => {
            let run = COUNTED.iter().find(|(counted, _)| counted == name);
            let kind = ["render", "compute", "upload"].into_iter().find(|known| known == kind);
            run.zip(kind)
        }
        _ => None,
    };
    let Some(((_, run), kind)) = run else {
        eprintln!("lockstep-bench LOOP KIND: LOOP is of hot.rs, KIND render, compute or upload");
        return ExitCode::from(2);
    };
    let stream = generated(kind, 64 << 10);
    run(&stream);
    println!("{}", stream.commands);
    ExitCode::SUCCESS
}
