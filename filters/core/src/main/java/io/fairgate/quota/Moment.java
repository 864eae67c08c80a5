package io.fairgate.quota;

import java.time.Instant;

/**
 * Now, on both clocks, so that all quotas of one decision see the same time.
 *
 * @param nanos of the monotonic clock, with an arbitrary origin; differences may wrap around
 * @param wall for calendars only
 */
record Moment(long nanos, Instant wall) {}
