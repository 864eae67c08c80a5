package io.fairgate.benchmarks;

/** A full pool and who waits for it, each known by the place in an array. */
interface WaitingQueue {

    void join(int place);

    void leave(int place);
}
