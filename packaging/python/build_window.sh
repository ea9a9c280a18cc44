#!/usr/bin/env bash
# Builds the wheel with the window, hopscope-window, into DIR (default: dist/ beside this script):
#
#   packaging/python/build_window.sh --programs FOLDER --qt FOLDER [DIR]
#
# The first folder contains the built programs hopscope and hopscope-layout, the second one an unpacked PySide6 (PySide6/Qt), on whose
# libraries the window runs. The wheel contains QCustomPlot, and for hopscope-layout Graphviz (lib), samples, fonts, and below system/
# the libraries that Qt needs and that small installations lack, each in a folder of its own. The terms of all are in licenses/.
set -eu
. "$(dirname "$0")/../common.sh"
. "$root/packaging/python/parts.sh"

target=$here/dist
programs='' qt=''
while [ $# -gt 0 ]; do
    case $1 in
    --programs)
        programs=$(value_of "$@")
        shift
        ;;
    --qt)
        qt=$(value_of "$@")
        shift
        ;;
    -*) fail "build_window.sh knows --programs and --qt, not '$1'" ;;
    *) target=$1 ;;
    esac
    shift
done
[ -x "$programs/hopscope" ] && [ -x "$programs/hopscope-layout" ] || fail "--programs: no window and layout helper in '$programs'"
[ -f "$qt/Qt/lib/libQt6Core.so.6" ] || fail "--qt: no PySide6 in '$qt'"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here/window/." "$root/LICENSE" "$root/LICENSES/GPL-3.0-or-later.txt" "$root/THIRD-PARTY.md" "$work/"
package=$work/src/hopscope_window
cp "$here/src/hopscope/_version.py" "$package/"
share=$package/share/hopscope
mkdir -p "$package/bin" "$package/lib/graphviz" "$package/system" "$share/fonts" "$package/licenses"

add_library() { # NAME PATH FOLDER
    mkdir -p "$3"
    copy_stripped "$2" "$3/$1"
    copy_terms "$2" "$package/licenses/$1.txt"
}

say "The window and the layout helper"
for program in hopscope hopscope-layout; do
    copy_stripped "$programs/$program" "$package/bin/$program"
    libraries "$programs/$program" | grep -E '^lib(QCustomPlot|gvc|cgraph|cdt|pathplan|ltdl)' > "$work/found"
    while read -r name path; do add_library "$name" "$path" "$package/lib"; done < "$work/found"
done
# Graphviz looks for its plugins beside itself, and uses those that this file lists.
plugins=$(dirname "$(sed -n 's/^libgvc\S* //p' "$work/found")")/graphviz
add_library libgvplugin_dot_layout.so.6 "$plugins/libgvplugin_dot_layout.so.6" "$package/lib/graphviz"
printf 'libgvplugin_dot_layout.so.6 dot_layout {\n\tlayout {\n\t\tdot 0\n\t}\n}\n' > "$package/lib/graphviz/config6a"

say "The libraries that Qt needs besides its own"
files=("$qt"/Qt/lib/libQt6{Widgets,Svg,PrintSupport,XcbQpa,WaylandClient}.so.6 "$qt"/Qt/plugins/platforms/lib{qxcb,qoffscreen,qwayland}.so
    "$qt"/Qt/plugins/wayland-shell-integration/libxdg-shell.so)
for file in "${files[@]}"; do ldd "$file"; done > "$work/all"
! grep 'not found' "$work/all" || fail "Qt needs these libraries, which packaging/setup.sh installs on Debian 12"
for file in "${files[@]}"; do libraries "$file"; done | sort -u | grep -vE "^libQt6|^libicu|^lib(z|expat)\.| $(readlink -f "$qt")/" > "$work/found"
while read -r name path; do add_library "$name" "$path" "$package/system/$name"; done < "$work/found"

say "Fonts and samples"
cp /usr/share/fonts/opentype/inter/Inter-{Regular,Medium,SemiBold,Bold}.otf /usr/share/fonts/truetype/dejavu/DejaVuSans{,Mono}.ttf \
    "$root/packaging/portable/fonts.conf" "$share/fonts/"
cp /usr/share/doc/fonts-inter/copyright "$package/licenses/Inter.txt"
cp /usr/share/doc/fonts-dejavu-core/copyright "$package/licenses/DejaVu.txt"
(cd "$root" && find samples -name '*.pt' -o -name '*.safetensors') | (cd "$root" && xargs cp --parents -t "$share")

say "The wheel"
pack_wheel "$work" "$target"
ls -l "$target"/hopscope_window-*.whl
