//! The program. Everything is in the library.

fn main() -> std::process::ExitCode {
    lockstep::cli::main()
}
