#!/usr/bin/env bash
# Runs the batches of random kernels in this folder on the CPU and on the GPU, and compares. Nothing but the driver is needed.
#
#   ./run.sh [BATCH...]
#
# JOBS batches run at once (16 unless set): the driver's compiler is what takes time. LIMIT is the time that one may take, in
# seconds (900 unless set). WHERE is cpu, gpu or all (all unless set). What the programs print is kept in logs/. Prints each
# difference and a summary of each batch, and exits with 1 if there was a difference.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
mkdir -p logs
[ "$#" -gt 0 ] || set -- batch_*

export LIMIT="${LIMIT:-900}" WHERE="${WHERE:-all}"
one() {
    timeout --kill-after=10 "$LIMIT" "./$1" "$WHERE" >"logs/$1.log" 2>&1 </dev/null
    local status=$?
    grep -hE '^(difference|failure)' "logs/$1.log" | sed "s/^/$1: /"
    echo "$1: $(grep -h '^summary' "logs/$1.log" || echo "no summary, exit status $status; see logs/$1.log")"
    return "$status"
}
export -f one
printf '%s\n' "$@" | xargs -P "${JOBS:-16}" -I{} bash -c 'one {}'
status=$?
if [ "$status" -ne 0 ]; then
    echo "differences: $(cat logs/*.log | grep -cE '^(difference|failure)')"
    exit 1
fi
echo "no differences"
