# Makes bare systems for the scripts that try packages; sourced, not run.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# bare_system FOLDER SUITE PACKAGES: a Debian with these packages (separated by commas), pip's settings, name lookup and certificates
# of this machine. A debootstrap that is older than the suite installs it in the way of sid.
bare_system() {
    local file scripts=/usr/share/debootstrap/scripts script=()
    [ -e "$scripts/$2" ] || script=("$scripts/sid")
    mkdir -p "$1"
    debootstrap --variant=minbase --include="ca-certificates,$3" "$2" "$1" "$(debian_mirror)" "${script[@]}" > "$1.log" || fail "see $1.log"
    for file in /etc/pip.conf /etc/resolv.conf /etc/hosts; do
        if [ -f "$file" ]; then cp "$file" "$1/etc/"; fi
    done
    cp -r /etc/ssl/certs "$1/etc/ssl/"
}

# in_bare FOLDER VARIABLES COMMAND...: runs a command in the system, with those variables of this machine whose names match VARIABLES
# (an extended regular expression), and with the proxies.
in_bare() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        $(env | grep -E "^($2|https?_proxy|HTTPS?_PROXY|no_proxy)=" || true) chroot "$1" "${@:3}"
}
