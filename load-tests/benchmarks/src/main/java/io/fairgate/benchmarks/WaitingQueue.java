package io.fairgate.benchmarks;

/** The queue of a full pool; each waiting request has a place in an array. */
interface WaitingQueue {

    void join(int place);

    void leave(int place);
}
