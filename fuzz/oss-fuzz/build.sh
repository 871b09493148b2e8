#!/bin/bash -eu
# projects/lockstep/build.sh of OSS-Fuzz: the repository's own script builds the targets.
exec "$SRC/lockstep/.clusterfuzzlite/build.sh"
