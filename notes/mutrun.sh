#!/bin/bash
# mutrun.sh regex mutant... : lincheck tests on mutants
R=$1; shift
for m in "$@"; do
  D=/tmp/dev/mut/src; rm -rf $D; mkdir -p $D/filters/core/src/main; cp -r /tmp/wt-proof/filters/core/src/main/java $D/filters/core/src/main/
  (cd $D && patch -s -p1 < /tmp/wt-proof/filters/testkit/src/mutants/$m.patch) || { echo "PATCH FAILS $m"; continue; }
  /tmp/dev/core.sh /tmp/dev/mut/cls $D/filters/core/src/main/java || { echo "COMPILE $m"; continue; }
  echo "== $m"; CLS=/tmp/dev/mut/cls OPTS="-XX:TieredStopAtLevel=1 -Dlincheck.logLevel=ERROR -Dfairgate.proof.orders=${O:-150} -Dfairgate.proof.drawn=0" timeout 400 /tmp/dev/run.sh io.fairgate.testkit.proof.PoolModelCheckTest "$R" 2>/dev/null | grep -aE "^(OK|FAIL)|outcome\(\)|^[a-z.A-Z]*Exception|= .* =" | cut -c1-140 | uniq
done
