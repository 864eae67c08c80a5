/**
 * The balances of quotas in the memory of one process: {@link io.fairgate.quota.embedded.EmbeddedQuotas} and its parts.
 *
 * <h2>Rates</h2>
 *
 * A rate follows the generic cell rate algorithm (ITU-T I.371, annex A; its cells are our units), in the form of the
 * continuous-state leaky bucket, which keeps the used units and the time at which they were counted: in any interval of length
 * {@code t} at most {@code burst + limit * t / per} units pass.
 *
 * <p>The textbook form adds {@code per / limit} nanoseconds for each unit. That is seldom a whole number: rounded down, a limit
 * of three units per second would in the long run admit more than three; rounded up, a limit above one unit per nanosecond
 * would admit one per nanosecond. So {@link io.fairgate.quota.embedded.RateUsage} keeps the bucket without a fraction: a unit
 * consists of as many <em>parts</em> as {@code per} has nanoseconds, hence each nanosecond returns exactly {@code limit} parts.
 * Only reported numbers are rounded. The used amount is a number of whole units and less than one unit of parts (up to 95 bits
 * together, in two longs), so the decision is a sum and a comparison; {@link io.fairgate.quota.embedded.ProductQuotient}
 * multiplies and divides where a product does not fit into a {@code long}, after a long pause or for a long wait. A
 * floating-point balance was rejected because it loses the exact bound, one of {@code BigInteger} because it allocates on every
 * request.
 *
 * <h2>Sliding windows</h2>
 *
 * {@link io.fairgate.quota.embedded.SlidingUsage} counts in parts of the window. The usual two counters with a weighted mean were
 * rejected: they admit up to twice the limit. A log of every request would be exact, but as long as the limit.
 *
 * <h2>Calendars</h2>
 *
 * A calendar quota counts the units of one window: an hour, day, week or month between two instants given by the rules of the
 * time zone. A count never goes down by itself, and is forgotten only when a window begins that lies wholly after the counted
 * one. So a wall clock that is set back refills nothing: units are charged to the latest window that was ever reached. When
 * the clock runs ahead and is corrected, at most {@code limit} units pass early, and their window has that many fewer; until
 * it ends, no new count begins, which admits too little rather than too much. A clock that once was a year ahead thus limits
 * a tenant to a single {@code limit} for that year, or until the process is restarted; with a
 * {@link io.fairgate.quota.journal.UsageJournal} a restart does not help either, and is reported at the start. A total is a window
 * that does not end.
 *
 * <h2>Several owners</h2>
 *
 * A request is charged to its tenant and to each group above it. {@link io.fairgate.quota.embedded.BoundQuotas} holds their
 * balances together and takes the owners' locks in one order. Quotas that are not enforced are charged only when all of them
 * would pass, and only together with the enforced ones: so their balances are what they would be if they were enforced.
 *
 * <h2>Settlements</h2>
 *
 * A {@link io.fairgate.quota.QuotaCharge} is settled when the actual cost of the request is known. A calendar or sliding
 * window gets units back if it is still the window in which the request was charged; a later settlement returns nothing. A
 * rate has no windows, and "return the units unless the bucket is empty" would be wrong: what time has returned already would
 * be returned again, at the cost of units that others have charged since. It is right to return at most what is used
 * minus what was charged after this charge. Then what is used stays at least the sum of all later charges, which bounds
 * every interval that begins after this charge; and every interval that contains it loses no more than was returned. So the
 * definition above holds for what was not returned, and out-of-order refunds of an almost empty bucket return a little
 * less than they could.
 *
 * <p>A usage that was forgotten meanwhile returns nothing: its window was over, its rate was empty, or its owner was dropped.
 * A debt is charged to the usage that has replaced it.
 *
 * <p>Units above the estimate are charged when they become known, to the window or part of a window that is reached then,
 * even if the limit is reached. If they were charged to the window of the estimate, a client that reads so slowly that this
 * window has closed would pay nothing. The debt is bounded by one more limit: a single answer of unknown size blocks its
 * tenant for no longer than one window of the quota.
 *
 * <h2>Changed numbers</h2>
 *
 * A usage belongs to an owner, a quota's name, and its kind and window. A quota with another window or kind begins unused,
 * and finds its old usage when it is changed back. Otherwise used units stay used, whatever the new numbers: 8 of
 * 10 become 8 of 20. Two more rules apply to rates. The time since the last charge returns units at the limit that is asked
 * for, so a raised limit helps at once and a check need not write anything. And no more than the new burst counts
 * as used: what was above it passed under the old numbers, and keeping it as a debt would block a tenant whose limit
 * fell from 10000 to 100 per hour for four days. A calendar quota whose zone changes keeps the count of the current
 * window and ends with the window of the new zone.
 */
@NullMarked
package io.fairgate.quota.embedded;

import org.jspecify.annotations.NullMarked;
