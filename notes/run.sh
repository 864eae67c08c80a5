#!/bin/bash
cd /tmp/dev
CLS=${CLS:-/tmp/dev/cls}
export LC=1; C=$CLS:$(cat /tmp/probe/cp.txt | sed 's#^[^:]*core/target/classes:##')
T=/tmp/wt-proof/filters/testkit/src
mkdir -p tcls
javac -nowarn -parameters -d tcls -cp "$C" Run.java $(find $T/main -name '*.java') $(find $T/test/java/io/fairgate/testkit/proof -name '*.java') || exit 1
${JAVA:-java} $OPTS -cp "tcls:$C" Run "$@"
