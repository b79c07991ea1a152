//! The program `zarrox`.

#[global_allocator]
static ALLOCATOR: zarrox_cli::WithReserve = zarrox_cli::WithReserve::new();

fn main() -> std::process::ExitCode {
    ALLOCATOR.fill();
    zarrox_cli::run(std::env::args_os()).into()
}
