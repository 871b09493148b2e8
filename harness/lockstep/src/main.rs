//! The program. Everything is in the library.

fn main() -> std::process::ExitCode {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // Mesa asks for it and prints a line to standard error when it is not there; any folder will do.
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
    lockstep::cli::main()
}
