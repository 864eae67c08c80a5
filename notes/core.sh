#!/bin/bash
# core.sh DIR [SRC] : compiles core into DIR
D=$1; S=${2:-/tmp/wt-proof/filters/core/src/main/java}
rm -rf $D; mkdir -p $D; javac -nowarn -parameters -d $D -cp "$(cat /tmp/probe/cp.txt)" $(find $S -name '*.java')
