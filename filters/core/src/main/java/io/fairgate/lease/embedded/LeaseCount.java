package io.fairgate.lease.embedded;

/**
 * How many leases there are.
 *
 * @param open all
 * @param holding those that hold permits
 * @param waiting those that wait for permits; of several pools one may hold some and wait for more
 */
public record LeaseCount(int open, int holding, int waiting) {}
