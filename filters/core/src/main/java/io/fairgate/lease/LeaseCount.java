package io.fairgate.lease;

/**
 * Numbers of leases.
 *
 * @param open all leases
 * @param holding the leases that hold permits
 * @param waiting the leases that wait for permits; a lease of several pools may hold some and wait for more
 */
public record LeaseCount(int open, int holding, int waiting) {}
