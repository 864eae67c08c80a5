package io.fairgate.proofs;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;

/** The specification: the same operations on a counter and a queue, without races. Lincheck finds its methods by name. */
public abstract class SequentialPool {

    private final String[] outcomes = new String[PoolOfRequests.REQUESTS];
    private final boolean[] mayEnd = new boolean[PoolOfRequests.REQUESTS];
    private final Queue<Integer> queue = new ArrayDeque<>();
    private int permits;
    private int inFlight;
    private boolean closing;

    SequentialPool(int permits) {
        this.permits = permits;
        Arrays.fill(outcomes, "not asked");
    }

    public final void acquire(int request) {
        if (outcomes[request].equals("not asked")) {
            outcomes[request] = closing ? "draining" : "waiting";
            if (!closing) {
                queue.add(request);
                grant();
            }
        }
    }

    public final void release(int request) {
        mayEnd[request] = true;
        if (outcomes[request].equals("running")) {
            end(request);
        }
    }

    public final void cancel(int request) {
        if (outcomes[request].equals("running")) {
            end(request);
        } else if (outcomes[request].equals("waiting")) {
            outcomes[request] = "over";
            queue.remove(request);
        }
    }

    public final void pass() {}

    public final void grow() {
        permits = 2;
        grant();
    }

    public final void resize() {}

    public final void close() {
        closing = true;
    }

    private void grant() {
        while (inFlight < permits && !queue.isEmpty()) {
            int next = queue.remove();
            inFlight++;
            outcomes[next] = "running";
            if (mayEnd[next]) {
                end(next);
            }
        }
    }

    private void end(int request) {
        outcomes[request] = "over";
        inFlight--;
        grant();
    }

    public final String outcome() {
        boolean closed = closing && inFlight == 0 && queue.isEmpty();
        return String.join(", ", outcomes) + (closed ? ", closed, " : ", ") + inFlight + " in flight";
    }

    public static final class OfOne extends SequentialPool {
        public OfOne() {
            super(1);
        }
    }

    public static final class OfTwo extends SequentialPool {
        public OfTwo() {
            super(2);
        }
    }

    /** Does nothing, and always has the same outcome. */
    public static final class Silent {
        public void acquire(int request) {}

        public void release(int request) {}

        public void cancel(int request) {}

        public void pass() {}

        public void timeOut(int request) {}

        public void expire() {}

        public void fail(int request) {}

        public void shrink() {}

        public String outcome() {
            return "consistent";
        }
    }
}
