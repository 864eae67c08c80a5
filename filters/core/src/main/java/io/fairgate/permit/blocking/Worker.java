package io.fairgate.permit.blocking;

/** The thread of a call and of the calls inside of it, which is interrupted when the hold of one of them is over. */
final class Worker {

    private final Thread thread = Thread.currentThread();
    private boolean isTold;
    private boolean wasInterrupted;

    /** The hold of a call is over. From any thread. */
    synchronized void tell() {
        if (!isTold) {
            isTold = true;
            wasInterrupted = thread.isInterrupted();
        }
        thread.interrupt();
    }

    /**
     * The call whose hold was over has ended. On the thread itself.
     *
     * @param isOuterOver whether the hold of a call around it is over as well: then the interrupt, which may be consumed, is repeated.
     *     Otherwise it is taken back, unless the thread was interrupted before
     */
    synchronized void ended(boolean isOuterOver) {
        if (isOuterOver) {
            thread.interrupt();
        } else {
            isTold = false;
            if (!wasInterrupted) {
                Thread.interrupted();
            }
        }
    }
}
