#!/bin/sh
# Sets up what runs Windows programs on Debian: a copy of the Rust toolchain with the source of its standard library, and a
# prefix of Wine. Usage: windows.sh DIRECTORY VERSION-OF-RUSTC
set -eu
mkdir -p "$1"
cd "$1"
version=$2

if [ ! -e rust/lib/rustlib/src/rust/library ]; then
    rm -rf rust source
    # Hard links take no space. Cargo finds the source only in the sysroot of the compiler beside it.
    cp -al "$(rustc --print sysroot)/." rust
fi
if [ ! -e rust/lib/rustlib/src/rust/library ]; then
    # The lists of another suite are read without changing the sources of this system.
    mkdir -p lists/partial cache/archives/partial rust/lib/rustlib/src
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$key] http://deb.debian.org/debian trixie-backports main" >suite.list
    set -- -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" -o Dir::Etc::sourcelist="$PWD/suite.list" \
        -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root
    apt-get "$@" update -q
    package=$(apt-cache "$@" madison rust-src | awk -v version="$version" 'index($3, version "+") == 1 { print $3; exit }')
    if [ -z "$package" ]; then
        echo "trixie-backports has no rust-src $version: run 'rustup component add rust-src', or use a version of Rust that it has" >&2
        exit 1
    fi
    apt-get "$@" download "rust-src=$package"
    dpkg -x rust-src_*.deb source
    ln -sfn "$PWD/source/usr/src/rustc-$version" rust/lib/rustlib/src/rust
    rm -rf lists cache rust-src_*.deb
fi

if [ ! -e wine/drive_c/windows/system32/bcryptprimitives.dll ]; then
    # Wine 8 lacks this library, from which Rust takes random numbers.
    cat >bcryptprimitives.c <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    return SystemFunction036(data, (ULONG)length);
}
C
    x86_64-w64-mingw32-gcc -shared -o bcryptprimitives.dll bcryptprimitives.c -ladvapi32
    WINEPREFIX="$PWD/wine" WINEDEBUG=-all /usr/lib/wine/wine64 wineboot --init
    cp bcryptprimitives.dll wine/drive_c/windows/system32/
fi
