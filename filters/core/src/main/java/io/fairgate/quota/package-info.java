/**
 * How much a tenant may use: units per window, checked before a request waits and charged when it goes.
 *
 * <h2>Rates</h2>
 *
 * A rate follows the generic cell rate algorithm (ITU-T I.371, annex A; units are its cells). The recommendation gives
 * two equivalent forms: virtual scheduling, which keeps a theoretical arrival time, and the continuous-state leaky
 * bucket, which keeps what is used and the time at which that was true. Both say: in any interval of length {@code t}
 * at most {@code burst + limit * t / per} units pass.
 *
 * <p>The textbook form of either keeps a time in nanoseconds and adds {@code per / limit} for each unit. That is seldom a
 * whole number: rounded down, three units per second would in time admit more than three; rounded up, a limit above
 * one unit per nanosecond stands still at one. So {@link io.fairgate.quota.RateUsage} keeps the bucket, and keeps it
 * without a fraction: a unit consists of as many <em>parts</em> as {@code per} has nanoseconds, hence each nanosecond
 * returns exactly {@code limit} parts. Nothing is ever rounded except what is reported. What is used is a number of
 * whole units and less than one unit of parts (up to 95 bits together, in two longs), so the decision is a sum and a
 * comparison; {@link io.fairgate.quota.ProductQuotient} multiplies and divides where time passes and where a wait is
 * told. A floating-point balance was turned down because it loses the exact bound, {@code BigInteger} because it allocates
 * on every request.
 *
 * <h2>Calendars</h2>
 *
 * A calendar quota counts the units of one window, a day or month between two instants taken from the zone's rules. A
 * count never goes down and is forgotten only when a window begins that lies wholly after the counted one. A wall clock
 * that is set back therefore refills nothing: units are charged to the latest window that was ever reached. When the
 * clock runs ahead and is corrected, at most {@code limit} units pass early, and the window they belong to is that much
 * poorer; until it ends, nothing is counted anew, which admits too little rather than too much. A clock that once stood
 * a year ahead thus holds a tenant to a single {@code limit} for that year, or until the process is started again.
 *
 * <h2>Changed numbers</h2>
 *
 * What is used belongs to a quota's name together with its {@code per}; another {@code per} or kind begins unused, and
 * finds its old usage when it is changed back. Otherwise used units stay used, whatever the new numbers: 8 of 10 become
 * 8 of 20. Two rules complete this for rates. The time since the last charge returns units at the limit asked for, so a
 * check need not write anything down for a raised limit to help at once. And no more than the new burst counts as
 * used: what was above it passed under the old numbers, and keeping it as a debt would shut out a tenant whose limit
 * fell from 10000 to 100 per hour for four days. A calendar quota whose zone changes keeps the count of the current
 * window and ends with the window of the new zone.
 */
@NullMarked
package io.fairgate.quota;

import org.jspecify.annotations.NullMarked;
