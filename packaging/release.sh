#!/usr/bin/env bash
# Makes a release of the version in packaging/python/src/hopscope/_version.py:
#
#   packaging/release.sh --check   checks the checkout, in seconds
#   packaging/release.sh           as root, in hours: also runs all tests, builds the wheels and packages into dist/, tries them in
#                                  bare systems below build/bare, and creates the tag vVERSION
#
# Nothing is published: push the tag and upload dist/ afterwards.
set -eu
. "$(dirname "$0")/common.sh"

cd "$root"
version=$(sed -nE 's/^__version__ = "(.*)"$/\1/p' packaging/python/src/hopscope/_version.py)
found=0

complain() {
    printf '%s\n' "$*" >&2
    found=1
}

# Prints each reason why this checkout is not a release.
check() {
    local date described
    [ -z "$(git status --porcelain)" ] || complain "the checkout has changes: commit or remove them"
    ! git rev-parse -q --verify "refs/tags/v$version" > /dev/null || complain "the tag v$version exists: choose another version"
    python3 -B tests/house/test_version.py > /dev/null 2>&1 || complain "the version is not the same everywhere: tests/house/test_version.py"
    date=$(sed -nE "s/^## ${version//./\\.}, ([0-9]{4}-[0-9]{2}-[0-9]{2})\$/\1/p" CHANGELOG.md)
    [ -n "$date" ] || complain "CHANGELOG.md has no heading '## $version, YEAR-MONTH-DAY'"
    described=$(sed -nE "s/.*<release version=\"$version\" date=\"([^\"]*)\".*/\1/p" resources/desktop/*.metainfo.xml)
    [ "$described" = "$date" ] || complain "resources/desktop describes the release of '$described', not of '$date'"
    ! git grep -l '@hopscope\.invalid' -- cmake packaging ':!packaging/release.sh' || complain "these files need the address of a maintainer"
    [ $found = 0 ] || fail "$version cannot be released"
    say "$version can be released"
}

try_wheels() {
    local suite
    for suite in bookworm trixie forky; do
        HOPSCOPE_SUITE=$suite packaging/python/test_wheels.sh "build/bare/$suite" dist
    done
    packaging/python/test_torch.sh "$root/dist"
}

case ${1:-} in
--check) check ;;
"")
    check
    [ "$(id -u)" = 0 ] || fail "bare systems need root"
    packaging/test.sh --full
    packaging/package.sh
    packaging/package.sh --check
    packaging/python/build_wheels.sh "$root/dist"
    try_wheels
    (cd dist && sha256sum hopscope*.* > SHA256SUMS)
    git tag -a "v$version" -m "Hopscope $version"
    say "dist/ and the tag v$version are ready"
    ;;
*) fail "unknown option '$1': use --check or nothing" ;;
esac
