#!/bin/sh
# A pod of the indexed Job in campaign.yaml: runs the shard of its index, from the start, or from where an earlier pod was ended.
set -eu
out=$RESULTS/shard-$JOB_COMPLETION_INDEX
if [ -e "$out/checkpoint.json" ]; then
  set -- --resume "$out"
else
  set -- --time "$TIME" --seed "$SEED" --shard "$JOB_COMPLETION_INDEX/$SHARDS" --out "$out"
fi
target/release/lockstep run "$@" &
campaign=$!
trap 'kill -TERM "$campaign"' TERM
status=0
wait "$campaign" || status=$?
# The signal ends the wait at once, and the campaign a moment later.
while kill -0 "$campaign" 2>/dev/null; do
  status=0
  wait "$campaign" || status=$?
done
# What is left there was ended from outside: not a shard that is done, so that another pod goes on.
if [ -e "$out/checkpoint.json" ]; then
  exit 143
fi
# What was found, the merged report says: the shard is done.
if [ "$status" -eq 1 ]; then
  exit 0
fi
exit "$status"
