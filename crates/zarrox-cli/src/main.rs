//! The program `zarrox`.

fn main() -> std::process::ExitCode {
    zarrox_cli::run(std::env::args_os()).into()
}
