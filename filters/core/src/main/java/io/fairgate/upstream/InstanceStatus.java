package io.fairgate.upstream;

/**
 * The state of one instance.
 *
 * @param inFlight requests in flight there
 * @param failures how many in a row there were until now
 * @param asideNanos how long it is still aside, in nanoseconds: 0 when the next request is its probe, and negative when it is not aside
 * @param isReady whether it passes its checks; true without checks
 */
public record InstanceStatus<T>(T instance, int weight, int inFlight, int failures, long asideNanos, boolean isReady) {

    /** Whether it gets requests as usual. */
    public boolean isInUse() {
        return asideNanos < 0 && isReady;
    }
}
