#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every system header that this build read and every system library that it links belongs to a package that
# tools/packages.txt lists, or to one that a listed package depends on.
#   check_packages.sh BUILD_FOLDER
# Exit code 77, the test's skip, on a system without dpkg.
set -euo pipefail

build=$1
list=$(cd "$(dirname "$0")/../.." && pwd)/tools/packages.txt
command -v dpkg-query >/dev/null || { echo "skipped: no dpkg on this system"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Listed packages and all that they depend on, alternatives and virtual packages followed.
awk '$1 == "build" || $1 == "test" {print $2}' "$list" >"$work/listed"
dpkg-query -W -f='${Package}\t${Depends},${Pre-Depends}\t${Provides}\n' |
  awk -F'\t' -v listed="$work/listed" '
    function names(text) { gsub(/\([^)]*\)|:any|[[:space:]]/, "", text); gsub(/\|/, ",", text); return text }
    { needs[$1] = needs[$1] "," names($2)
      n = split(names($3), given, ","); for (i = 1; i <= n; i++) providers[given[i]] = providers[given[i]] "," $1 }
    function visit(name) { if (name != "" && !(name in seen)) { seen[name] = 1; queue[++last] = name } }
    END {
      while ((getline name < listed) > 0) visit(name)
      for (first = 1; first <= last; first++) {
        n = split(needs[queue[first]] providers[queue[first]], next_names, ",")
        for (i = 1; i <= n; i++) visit(next_names[i])
      }
      for (name in seen) print name
    }' | sort >"$work/allowed"

# What the build used. /usr/local is the administrator's, not a package's.
{
  ninja -C "$build" -t deps | awk '/^ +\/usr\// {print $1}'
  # ldd fails on what is no ELF file, and so does find on a folder that this build does not have.
  { find "$build/bin" "$build/lib" -type f -exec ldd {} + 2>/dev/null || true; } |
    awk '$3 ~ /^\// {print $3}'
} | grep -v '^/usr/local/' | grep -v "^$build/" | sort -u | xargs -r realpath -m | sort -u >"$work/files"
[ -s "$work/files" ] || { echo "FAILED: the build seems to have used no system file"; exit 1; }

# With /lib merged into /usr/lib, a package may own either name, and dpkg-query fails on the other.
sed -n 's,^/usr/lib,/lib,p' "$work/files" | cat "$work/files" - >"$work/names"
{ xargs dpkg-query -S <"$work/names" 2>/dev/null || true; } |
  awk '{name = $1; sub(/:.*/, "", name); print name "\t" $NF}' | sort -u >"$work/owners"
awk -F'\t' 'NR == FNR {allowed[$1] = 1; next} !($1 in allowed)' "$work/allowed" "$work/owners" >"$work/missing"

if [ -s "$work/missing" ]; then
  echo "FAILED: tools/packages.txt lists neither these packages nor one that needs them:"
  awk -F'\t' '!($1 in seen) {seen[$1] = 1; print "  " $1 ", for " $2}' "$work/missing"
  exit 1
fi
echo "$(wc -l <"$work/files") system files, from $(cut -f1 "$work/owners" | sort -u | wc -l) packages, all of them listed"
