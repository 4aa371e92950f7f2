#!/usr/bin/env bash
# Runs the tests and benchmarks of this folder on the GPU. Nothing but the driver is needed.
#
#   ./run.sh test | bench | tune | all | sanitize
#
# `tune` measures the configurations of matrix products, and writes them to tuning/, as `cargo xtask tune` does to kernels/tuning/.
# `sanitize` runs the tests of pipelines and of attention under NVIDIA's compute-sanitizer, if it is on PATH: accesses outside of
# memory, races in shared memory, and barriers that not all threads meet.
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
    local kind="$1" program="$2"
    shift 2
    run "$kind" "$(basename "$program")" "$program" "$@"
}

# run KIND NAME COMMAND [ARGUMENT...]: runs the command under the time limit and reports.
run() {
    local name="$2" log="logs/$1-$2.log" status start seconds
    shift 2
    start=$SECONDS
    timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null
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

# sanitize PROGRAM [ARGUMENT...]: runs it under each tool of compute-sanitizer.
sanitize() {
    local program="$1" name tool
    name="$(basename "$program")${CUDA_TILES_TEST_OLDER_CODE:+-older}"
    shift
    for tool in memcheck racecheck synccheck; do
        # A kernel is looked for in one module after the other: that it is not in the first is no error.
        run sanitize "$tool-$name" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 1 \
            "$program" "$@"
    done
}

# Kernels that share memory between threads and TMA; pipelines with the code for older GPUs as well. Programs run a hundred times
# slower under these tools: a few tests of each kind.
run_sanitizer() {
    if ! command -v compute-sanitizer >/dev/null; then
        echo "skipped: no compute-sanitizer on PATH; it comes with NVIDIA's CUDA toolkit"
        return
    fi
    local selection=(streams::two_products_of_one_stage streams::multiplications_in_flight streams::stages_of_four)
    sanitize tests/operations-operations "${selection[@]}"
    CUDA_TILES_TEST_OLDER_CODE=1 sanitize tests/operations-operations "${selection[@]}"
    sanitize tests/attention at_the_edges
    sanitize tests/attention_gradients at_the_edges
}

# The example `digits` reads a file and writes one, both of them here.
run_examples() {
    local program
    for program in examples/*; do
        case "$program" in
        */digits-digits) run_program examples "$program" --csv data/digits.csv --out logs/misread.png ;;
        *) run_program examples "$program" ;;
        esac
    done
}

# The benchmarks, with their table. The others in the folder are scripts that load the library beside them, and what they measure
# against: `python3 matrix.py --help`, there.
run_benches() {
    run_program benches benches/gpu --json logs/gpu.json
    cat logs/benches-gpu.log
}

run_tuner() {
    run_program benches benches/tune --products tuning/products.txt --results tuning
    cat logs/benches-tune.log
}

case "${1:-}" in
test)
    run_tests
    run_examples
    ;;
bench)
    run_benches
    ;;
tune)
    run_tuner
    ;;
sanitize)
    run_sanitizer
    ;;
all)
    run_tests
    run_examples
    run_benches
    ;;
*)
    sed -n '2,13s/^# \{0,1\}//p' run.sh
    exit 2
    ;;
esac
if [ "$failures" -ne 0 ]; then
    echo "$failures programs failed"
    exit 1
fi
echo "all programs succeeded"
