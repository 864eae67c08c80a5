package io.fairgate.fairness.model;

/**
 * One random step of a pool.
 *
 * @param tenant index of the tenant that arrives
 * @param number permits asked for, index of a request, new size, or seed of new settings
 * @param pause nanoseconds that pass before it
 * @param grants whether the scheduler grants after it, or only after further steps
 * @param hold nanoseconds for which the arriving request will hold its permits; 0 if a later step ends the hold
 */
public record Step(Kind kind, int tenant, int number, long pause, boolean grants, long hold) {

    Step(Kind kind, int tenant, int number, long pause, boolean grants) {
        this(kind, tenant, number, pause, grants, 0);
    }

    public enum Kind {
        ARRIVE,
        RELEASE,
        CANCEL,
        /** The request will not accept a grant, which the scheduler learns only when it tries. */
        DECLINE,
        RESIZE,
        RECONFIGURE,
        WAIT
    }
}
