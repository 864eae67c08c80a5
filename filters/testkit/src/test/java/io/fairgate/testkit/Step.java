package io.fairgate.testkit;

/**
 * One random step of a pool's life.
 *
 * @param tenant index of the tenant that arrives
 * @param number permits asked for, index of a claim, new size, or seed of new settings
 * @param pause nanoseconds that pass before it
 * @param grants whether permits are handed out after it, or several changes come together
 * @param hold nanoseconds for which the claim that arrives will hold its permits; 0 when that is left to later steps
 */
record Step(Kind kind, int tenant, int number, long pause, boolean grants, long hold) {

    Step(Kind kind, int tenant, int number, long pause, boolean grants) {
        this(kind, tenant, number, pause, grants, 0);
    }

    enum Kind {
        ARRIVE,
        RELEASE,
        CANCEL,
        /** The claim will not accept a grant, and nobody tells the scheduler before it tries. */
        DECLINE,
        RESIZE,
        RECONFIGURE,
        WAIT
    }
}
