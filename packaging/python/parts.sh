# Shared by the scripts that build wheels; sourced, not run, after ../common.sh.
here=$root/packaging/python

# The value of the option that is read.
value_of() { # OPTION VALUE...
    [ $# -gt 1 ] || fail "$1 needs a value"
    echo "$2"
}

# "NAME PATH" of every library with which a program or a library is started, except the system's own (glibc and GCC's).
libraries() { # FILE
    ldd "$1" | sed -n 's/^\s*\(\S*\) => \(\/\S*\) .*/\1 \2/p' |
        grep -vE '^(libc|libm|libpthread|libdl|librt|libresolv|libstdc\+\+|libgcc_s)\.so' || true
}

# The libraries that a file itself names.
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

# Copies a program or library without symbols and without the folders of this machine in which it looks for libraries.
copy_stripped() { # FILE TARGET
    strip --strip-unneeded -o "$2" "$1"
    chmod 755 "$2"
    printf 'file(RPATH_REMOVE FILE "%s")\n' "$2" > "$2.cmake"
    cmake -P "$2.cmake" > /dev/null
    rm "$2.cmake"
}

# The terms of a library, as Debian or HiGHS ship them with their packages.
copy_terms() { # PATH TARGET
    local file package
    file=$(readlink -f "$1")
    if [ -f "${file%/lib/*}/share/doc/HIGHS/LICENSE.txt" ]; then
        cp "${file%/lib/*}/share/doc/HIGHS/LICENSE.txt" "$2"
        return
    fi
    package=$(dpkg -S "$file" 2> /dev/null || dpkg -S "${file#/usr}" 2> /dev/null) || package=
    package=${package%%:*}
    [ -n "$package" ] && [ -f "/usr/share/doc/$package/copyright" ] || fail "$1: no package with a copyright file holds it"
    cp "/usr/share/doc/$package/copyright" "$2"
}

# Builds a wheel for this kind of machine from a folder with a pyproject.toml.
pack_wheel() { # FOLDER TARGET
    local python=$root/.venv/bin/python alone=(--no-build-isolation --no-index) platform
    platform=linux_$(uname -m)
    [ -x "$python" ] || python=python3
    "$python" -c 'import setuptools, sys; sys.exit(int(setuptools.__version__.split(".")[0]) < 77)' || alone=()
    mkdir -p "$2"
    find "$1" -name __pycache__ -prune -exec rm -rf {} +
    "$python" -m pip wheel -q --disable-pip-version-check --no-deps "${alone[@]}" \
        --config-settings=--build-option=--plat-name="$platform" -w "$2" "$1"
}
