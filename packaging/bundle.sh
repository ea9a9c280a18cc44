#!/usr/bin/env bash
# Completes the tree of a package after CPack has run the install rules and before it compresses (cmake/HopscopePackage.cmake):
#
#   packaging/bundle.sh DEB TREE    adds the libraries that Debian lacks; all others are dependencies
#   packaging/bundle.sh TXZ TREE    adds all libraries but those of C and C++, plugins of Qt and Graphviz, and fonts
#
# TREE has bin/ and share/. The libraries come to TREE/lib/hopscope, where the programs find them relative to themselves; their
# terms come to TREE/share/doc/hopscope/licenses.
set -eu
. "$(dirname "$0")/common.sh"

kind=$1 tree=$2
lib=$tree/lib/hopscope
doc=$tree/share/doc/hopscope
programs=("$tree"/bin/*)
system=/usr/lib/$(gcc -print-multiarch)
plugins=$(qmake6 -query QT_INSTALL_PLUGINS)
# What xcb and Wayland need, icons, and keyboards with dead keys.
qt_plugins="platforms/libqxcb.so platforms/libqwayland-generic.so platforms/libqoffscreen.so
    wayland-shell-integration/libxdg-shell.so wayland-decoration-client/libbradient.so iconengines/libqsvgicon.so
    imageformats/libqsvg.so platforminputcontexts/libcomposeplatforminputcontextplugin.so
    platforminputcontexts/libibusplatforminputcontextplugin.so"
dot_plugin=graphviz/libgvplugin_dot_layout.so.6
fonts="opentype/inter/Inter-Regular.otf opentype/inter/Inter-Italic.otf opentype/inter/Inter-SemiBold.otf
    opentype/inter/Inter-Bold.otf truetype/dejavu/DejaVuSans.ttf truetype/dejavu/DejaVuSansMono.ttf
    truetype/dejavu/DejaVuSansMono-Bold.ttf"
# Libraries that consist of headers, and are therefore parts of the programs.
header_packages="nlohmann-json3-dev libcli11-dev libexpected-dev libxxhash-dev libhwy-dev"

mkdir -p "$lib" "$doc/licenses"

# The files' libraries, but for those of C and C++. Debian's OpenMP runtime takes the place of the one in torch's package.
needed() {
    ldd "$@" | sed -n 's/^\s*\S* => \(\/\S*\) .*/\1/p' | sort -u |
        grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|libstdc\+\+|libgcc_s)\.so' |
        sed "s#.*/libgomp\.so\.1\$#$system/libgomp.so.1#; /\/libtorch\.so\$/d" | sort -u
}

# The Debian package that holds a file; nothing if there is none.
package_of() {
    local file
    file=$(readlink -f "$1")
    { dpkg -S "$file" || dpkg -S "${file#/usr}" || true; } 2> /dev/null | sed 's/:.*//;q'
}

add_debian_terms() { # PACKAGE
    cp "/usr/share/doc/$1/copyright" "$doc/licenses/$1.txt"
    if [ "$kind" = TXZ ]; then
        dpkg-query -W -f '${Package} is made of the Debian source package ${source:Package} ${source:Version}\n' "$1" >> "$doc/licenses/SOURCES.txt"
    fi
}

# Of a library that came with a Python package: LibTorch or HiGHS.
add_other_terms() { # PATH
    local packages=${1%/site-packages/*}/site-packages
    case $1 in
    */libhighs.so) cp "${1%/lib/*}/share/doc/HIGHS/LICENSE.txt" "$doc/licenses/HiGHS.txt" ;;
    */torch/lib/*) [ -d "$doc/licenses/LibTorch" ] || cp -r "$packages"/torch-*.dist-info/licenses "$doc/licenses/LibTorch" ;;
    *) fail "$1: the terms of this library are not known" ;;
    esac
}

add_file() { # PATH TARGET
    local package
    mkdir -p "$(dirname "$2")"
    install -m 644 "$(readlink -f "$1")" "$2"
    package=$(package_of "$1")
    if [ -z "$package" ]; then strip --strip-unneeded "$2" && add_other_terms "$1"; elif [ ! -f "$doc/licenses/$package.txt" ]; then add_debian_terms "$package"; fi
}

add_libraries() { # of the given files
    local path
    needed "$@" | while read -r path; do
        if [ "$kind" = TXZ ] || [ -z "$(package_of "$path")" ]; then add_file "$path" "$lib/$(basename "$path")"; fi
    done
}

# $ORIGIN in DT_RPATH, which also holds for what the libraries need. libtorch.so is empty: it only names LibTorch's other libraries.
make_relocatable() {
    local program
    for program in "${programs[@]}"; do
        strip "$program"
        patchelf --remove-rpath --remove-needed libtorch.so "$program"
        if [ "$kind" = TXZ ] || [ "$(basename "$program")" = hopscope-engine-torch ]; then
            patchelf --force-rpath --set-rpath "\$ORIGIN/../lib/hopscope" "$program"
        fi
    done
}

# The helpers of the programs share their pages.
add_links_of_pages() {
    local suffix=$1
    ln -s "hopscope-engine.1$suffix" "$tree/share/man/man1/hopscope-engine-torch.1$suffix"
    ln -s "hopscope.1$suffix" "$tree/share/man/man1/hopscope-layout.1$suffix"
}

# What Debian expects of a package.
follow_debian() {
    local released
    released=$(sed -n 's/.*<release version="[^"]*" date="\([^"]*\)".*/\1/p' "$root/resources/desktop/org.hopscope.Hopscope.metainfo.xml" | head -1)
    gzip -9n "$tree"/share/man/man1/*.1
    add_links_of_pages .gz
    mkdir "$tree/share/zsh/vendor-completions"
    mv "$tree/share/zsh/site-functions/_hopscope-engine" "$tree/share/zsh/vendor-completions/"
    rmdir "$tree/share/zsh/site-functions"
    gzip -9nc "$root/CHANGELOG.md" > "$doc/changelog.gz"
    printf 'hopscope (%s-1) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- The Hopscope authors <authors@hopscope.invalid>  %s\n' \
        "$("$tree/bin/hopscope-engine" --version | sed -n 's/^hopscope-engine //p')" "$(date -u -R -d "$released")" | gzip -9n > "$doc/changelog.Debian.gz"
}

# What a system without Qt, Graphviz and fonts lacks.
add_portable_parts() {
    local plugin font
    for plugin in $qt_plugins; do add_file "$plugins/$plugin" "$lib/plugins/$plugin"; done
    add_file "$system/$dot_plugin" "$lib/$dot_plugin"
    sed -n '/^libgvplugin_dot_layout/,/^}/p' "$system/graphviz/config6a" > "$lib/graphviz/config6a"
    for font in $fonts; do add_file "/usr/share/fonts/$font" "$tree/share/hopscope/fonts/$(basename "$font")"; done
    add_libraries $(printf "$plugins/%s " $qt_plugins) "$system/$dot_plugin"
    cp "$root/packaging/portable/fonts.conf" "$tree/share/hopscope/fonts/"
    cp "$root/packaging/portable/qt.conf" "$tree/bin/"
    cp -r /usr/share/common-licenses "$root/LICENSES" "$doc/licenses/"
    add_links_of_pages ""
}

say "Completing $tree"
add_libraries "${programs[@]}"
for package in $header_packages; do add_debian_terms "$package"; done
cp "$root/packaging/debian/copyright" "$root/THIRD-PARTY.md" "$doc/"
chmod -R u=rwX,go=rX "$doc"
find "$doc" -type f -exec chmod a-x {} +
make_relocatable
case $kind in
DEB) follow_debian ;;
TXZ) add_portable_parts ;;
*) fail "unknown kind of package '$kind': use DEB or TXZ" ;;
esac
