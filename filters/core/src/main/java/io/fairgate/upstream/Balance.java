package io.fairgate.upstream;

/** How requests are spread over the instances that are in use. */
public enum Balance {
    /** To the instance with the fewest requests in flight for its weight, failures of the last second included. */
    LEAST_REQUESTS,

    /** To each instance in turn, to those with a larger weight more often. */
    ROUND_ROBIN
}
