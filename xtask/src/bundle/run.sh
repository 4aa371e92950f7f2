#!/usr/bin/env bash
# Runs the tests and benchmarks of this folder on the GPU. Nothing but the driver is needed.
#
#   ./run.sh test | bench | all
#
# LIMIT is the time that a program may take, in seconds (600 unless set); a program that hangs has failed.
# CUDA_TILES_DEVICE says where to run (gpu unless set). What the programs print is kept in logs/.
# Prints a line for each program and one for each failure, and exits with 1 if there was one.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
export CUDA_TILES_DEVICE="${CUDA_TILES_DEVICE:-gpu}"
limit="${LIMIT:-600}"
failures=0
mkdir -p logs

# run_program KIND PROGRAM [ARGUMENT...]: runs it under the time limit and reports.
run_program() {
    local program="$2" name log status start seconds
    name="$(basename "$program")"
    log="logs/$1-$name.log"
    shift 2
    start=$SECONDS
    timeout --kill-after=10 "$limit" "$program" "$@" >"$log" 2>&1 </dev/null
    status=$?
    seconds=$((SECONDS - start))
    if [ "$status" -eq 0 ]; then
        echo "ok      $name ($seconds s)"
        return
    fi
    failures=$((failures + 1))
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo "FAILED  $name: not finished after $limit s; see $log"
    else
        echo "FAILED  $name: exit status $status; see $log"
    fi
    # One line for each test that failed, or that was still running.
    echo >>"$log"
    sed -n 's/^test \(.*\) \.\.\. FAILED$/        \1/p
            s/^test \(.*\) \.\.\. $/        \1 (unfinished)/p
            s/^test \(.*\) has been running for over .*$/        \1 (unfinished)/p' "$log"
}

run_tests() {
    local program
    for program in tests/*; do
        run_program tests "$program"
    done
}

# The example `digits` reads a file and writes one, both of them here.
run_examples() {
    local program
    for program in examples/*; do
        case "$program" in
        */digits) run_program examples "$program" --csv data/digits.csv --out logs/misread.png ;;
        *) run_program examples "$program" ;;
        esac
    done
}

# Every benchmark, with its table.
run_benches() {
    local program
    for program in benches/*; do
        run_program benches "$program" --json "logs/$(basename "$program").json"
    done
    cat logs/benches-*.log
}

case "${1:-}" in
test)
    run_tests
    run_examples
    ;;
bench)
    run_benches
    ;;
all)
    run_tests
    run_examples
    run_benches
    ;;
*)
    sed -n '2,8s/^# \{0,1\}//p' run.sh
    exit 2
    ;;
esac
if [ "$failures" -ne 0 ]; then
    echo "$failures programs failed"
    exit 1
fi
echo "all programs succeeded"
