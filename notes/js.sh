#!/bin/bash
# js.sh CORECLS args...
W=/tmp/wt-proof/filters/testkit/target; J=~/.m2/repository/org/openjdk/jcstress/jcstress-core/0.16/jcstress-core-0.16.jar; JD=$(tr ':' '\n' < /tmp/probe/cp-all.txt | grep -E "jopt|jna" | tr '\n' ':')
CP=$(cat /tmp/probe/cp.txt | tr ':' '\n' | grep -vE "core/target/classes|slf4j|lincheck|kotlin|WebSocket" | tr '\n' ':')
CORE=$1; shift
mkdir -p /tmp/dev/js && cd /tmp/dev/js && java -cp $W/jcstress-classes:$W/test-classes:$W/classes:$CORE:$J:$JD$CP org.openjdk.jcstress.Main "$@"
