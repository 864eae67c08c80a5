package io.fairgate.quota;

import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;

/**
 * What is used of a rate: the counter X and the last conformance time LCT of the continuous-state leaky bucket (ITU-T
 * I.371, annex A), without rounding; see the package description for the units.
 *
 * @param units whole units used, up to the burst
 * @param parts of one more unit, below the nanoseconds of {@code per}
 * @param atNanos when that much was used, on the monotonic clock
 */
record RateUsage(Quota.Rate quota, long units, long parts, long atNanos) implements Usage {

    static RateUsage none(Quota.Rate rate, long nowNanos) {
        return new RateUsage(rate, 0, 0, nowNanos);
    }

    /** @param rate the same {@code per}; limit and burst may have changed */
    RateUsage at(Quota.Rate rate, long nowNanos) {
        RateUsage capped = units < rate.burst()
                ? new RateUsage(rate, units, parts, atNanos)
                : new RateUsage(rate, rate.burst(), 0, atNanos);
        // Threads read the clock before they get to the balance, so time may seem to run back a little.
        return nowNanos - atNanos > 0 ? capped.drained(nowNanos) : capped;
    }

    private RateUsage drained(long nowNanos) {
        long partsPerUnit = partsPerUnit();
        ProductQuotient returned = ProductQuotient.of(quota.limit(), nowNanos - atNanos, partsPerUnit);
        long unitsLeft = units - returned.whole();
        long partsLeft = parts - returned.remainder();
        if (partsLeft < 0) {
            partsLeft += partsPerUnit;
            unitsLeft--;
        }
        return unitsLeft < 0 ? none(quota, nowNanos) : new RateUsage(quota, unitsLeft, partsLeft, nowNanos);
    }

    @Override
    public RateUsage plus(long more) {
        return new RateUsage(quota, units + more, parts, atNanos);
    }

    /** Waits beyond 292 years, which the clock cannot measure either, are told as about 292 years. */
    @Override
    public Balance balance(long asked, Moment now) {
        long usedRoundedUp = parts == 0 ? units : units + 1;
        return new Balance(
                quota,
                quota.burst() - usedRoundedUp,
                units == 0 && parts == 0 ? Duration.ZERO : untilReturned(units, parts, now),
                retryAfter(asked, now));
    }

    private Duration retryAfter(long asked, Moment now) {
        if (asked > quota.burst()) {
            return Balance.NEVER;
        }
        long tooMany = asked - (quota.burst() - units);
        boolean passes = tooMany < 0 || (tooMany == 0 && parts == 0);
        return passes ? Duration.ZERO : untilReturned(tooMany, parts, now);
    }

    /** The first nanosecond after which that much has been returned, counted from {@code now}. */
    private Duration untilReturned(long someUnits, long someParts, Moment now) {
        long limit = quota.limit();
        ProductQuotient nanos = ProductQuotient.of(someUnits, partsPerUnit(), limit);
        long roundedUp = (nanos.remainder() + someParts + limit - 1) / limit;
        return Duration.ofNanos(nanos.whole()).plusNanos(roundedUp).plusNanos(Math.max(0, atNanos - now.nanos()));
    }

    @Override
    public boolean isNothing(Moment now) {
        RateUsage left = at(quota, now.nanos());
        return left.units == 0 && left.parts == 0;
    }

    private long partsPerUnit() {
        return quota.per().toNanos();
    }
}
