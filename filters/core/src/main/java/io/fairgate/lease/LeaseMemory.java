package io.fairgate.lease;

import java.time.Duration;

/**
 * Where leases are remembered. A memory that is lost is followed by another one, which knows none of the leases before.
 *
 * @param ids ids that only this memory makes
 * @param age the time since it began
 */
public record LeaseMemory(LeaseIds ids, Duration age) {}
