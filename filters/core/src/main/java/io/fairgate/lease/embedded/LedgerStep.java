package io.fairgate.lease.embedded;

import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** One step under the lock of the {@link LeaseLedger}, and the calls that follow when the lock has been released. */
final class LedgerStep {

    private final List<Runnable> calls = new ArrayList<>(2);
    /** The time of the step, in nanoseconds, once it has the lock. */
    long now;

    void after(Runnable call) {
        calls.add(call);
    }

    /** Makes all calls. One that throws is a bug of a listener, and must not cost other leases their permits. */
    void makeCalls() {
        for (Runnable call : calls) {
            try {
                call.run();
            } catch (RuntimeException | Error e) {
                Operators.onErrorDropped(e, Context.empty());
            }
        }
    }
}
