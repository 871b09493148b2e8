#!/bin/bash -eu
# Builds every fuzz target there is, with its seeds, its dictionary and libFuzzer's options, into $OUT: ClusterFuzzLite and OSS-Fuzz run
# this in their image. It runs anywhere else too, with OUT and WORK set: docs/nightly.md.

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

case "${SANITIZER:-address}" in
  address) sanitizer=address ;;
  # The image's RUSTFLAGS ask for coverage themselves.
  coverage | none) sanitizer=none ;;
  *)
    echo "build.sh: SANITIZER=$SANITIZER: Rust's targets are built with address, coverage or none" >&2
    exit 2
    ;;
esac
if [ "${FUZZING_ENGINE:-libfuzzer}" != libfuzzer ]; then
  echo "build.sh: FUZZING_ENGINE=$FUZZING_ENGINE: the targets are libFuzzer's" >&2
  exit 2
fi

triple=$(rustc -vV | sed -n 's/^host: //p')
cargo fuzz build --release --sanitizer "$sanitizer" --target-dir "$WORK/target"
for target in $(cargo fuzz list); do
  cp "$WORK/target/$triple/release/$target" "$OUT/"
  if [ -d "fuzz/seeds/$target" ]; then
    (cd "fuzz/seeds/$target" && zip --quiet --recurse-paths - .) > "$OUT/${target}_seed_corpus.zip"
  fi
  if [ -e "fuzz/dictionaries/$target.dict" ]; then
    cp "fuzz/dictionaries/$target.dict" "$OUT/"
  fi
  if [ -e "fuzz/options/$target.options" ]; then
    cp "fuzz/options/$target.options" "$OUT/"
  fi
done
