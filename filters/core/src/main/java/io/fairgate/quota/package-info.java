/**
 * How much a tenant may use: units per window, checked before a request waits, charged when it goes, and settled when it
 * is known what it took.
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
 * <h2>Sliding windows</h2>
 *
 * {@link io.fairgate.quota.SlidingUsage} counts in a ring of sixtieths of the window, and counts all 61 that a window can
 * touch: it never admits more than the limit in any window, and gives a unit back up to a sixtieth of the window late.
 * The usual two counters with a weighted mean were turned down: they admit up to twice the limit. A log of every request
 * is exact, and as long as the limit.
 *
 * <h2>Calendars</h2>
 *
 * A calendar quota counts the units of one window, an hour, day, week or month between two instants taken from the zone's
 * rules. A count never goes down and is forgotten only when a window begins that lies wholly after the counted one. A wall
 * clock that is set back therefore refills nothing: units are charged to the latest window that was ever reached. When the
 * clock runs ahead and is corrected, at most {@code limit} units pass early, and the window they belong to is that much
 * poorer; until it ends, nothing is counted anew, which admits too little rather than too much. A clock that once stood
 * a year ahead thus holds a tenant to a single {@code limit} for that year, or until the process is started again; with a
 * {@link io.fairgate.quota.UsageJournal} that does not help either, and the start says so. A total is a window that does not
 * end.
 *
 * <h2>Several owners</h2>
 *
 * A request is charged to its tenant and to each group above it. {@link io.fairgate.quota.QuotaSet} lists the quotas that
 * apply, {@link io.fairgate.quota.BoundQuotas} holds it together with the balances and takes the owners' locks in one
 * order. Quotas that are not enforced are charged only when all of them would pass, and with the enforced ones only: so
 * their balances are what they would be.
 *
 * <h2>Settlements</h2>
 *
 * A {@link io.fairgate.quota.QuotaCharge} is settled when it is known what the request took. A calendar or sliding window
 * gets units back if it is still the one in which the request was charged; later they are forgotten. A rate has
 * no windows, and "give the units back unless the bucket is empty" would be wrong: what time has returned already would
 * be returned again, at the cost of units that others have charged since. It is right to take away at most what is used
 * minus what was charged after this charge. Then what is used stays at least the sum of all later charges, which bounds
 * every interval that begins after this one; and every interval that contains it loses no more than was given back. So the
 * definition above holds for what was not given back, and out-of-order refunds of an almost empty bucket give back a little
 * less than they could.
 *
 * <p>What was forgotten meanwhile, because nothing of it was used, has nothing to give back: a window was over, and a
 * rate was empty. A debt is owed by the usage that has taken its place.
 *
 * <p>Units above the estimate are charged when they become known, to the window or part of a window that is reached then,
 * although the limit may be reached. Charged to where the estimate was, they would cost a client nothing that reads so
 * slowly that its window has closed. That debt is bounded by one more limit: a
 * single answer of unknown size shuts its tenant out for no longer than one window of the quota.
 *
 * <h2>Changed numbers</h2>
 *
 * What is used belongs to an owner and a quota's name together with its kind and window; another window or kind begins
 * unused, and finds its old usage when it is changed back. Otherwise used units stay used, whatever the new numbers: 8 of
 * 10 become 8 of 20. Two rules complete this for rates. The time since the last charge returns units at the limit asked
 * for, so a check need not write anything down for a raised limit to help at once. And no more than the new burst counts
 * as used: what was above it passed under the old numbers, and keeping it as a debt would shut out a tenant whose limit
 * fell from 10000 to 100 per hour for four days. A calendar quota whose zone changes keeps the count of the current
 * window and ends with the window of the new zone.
 */
@NullMarked
package io.fairgate.quota;

import org.jspecify.annotations.NullMarked;
