package io.fairgate.quota.embedded;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision.Balance;
import java.time.Duration;

/**
 * The usage of a rate: the counter X and the last conformance time LCT of the continuous-state leaky bucket (ITU-T I.371,
 * annex A), without rounding. The package description explains the parts of units, and what a settlement may return.
 */
final class RateUsage extends Usage {

    private final long partsPerUnit;

    /** The quota as it was at the last charge or settlement. */
    private Quota.Rate rate;
    /** Whole units used: up to the burst, and with debts up to one limit more. */
    private long units;
    /** The used part of one more unit, below {@link #partsPerUnit}. */
    private long parts;
    /** The time of {@link #units} and {@link #parts}, in nanoseconds of the monotonic clock. */
    private long atNanos;
    /** The sum of all units that were ever charged; wraps around. */
    private long everCharged;

    // The state at the last look: at its time, with the numbers of its quota. Only for the call that has just looked.
    private long unitsNow;
    private long partsNow;
    private long nowNanos;
    private Quota.Rate rateNow;

    RateUsage(Quota.Rate rate, long nowNanos) {
        this.partsPerUnit = rate.per().toNanos();
        this.rate = rate;
        this.rateNow = rate;
        this.atNanos = nowNanos;
    }

    /** @param now the quota with the same {@code per}; limit and burst may have changed */
    private void look(Quota.Rate now, long nanos) {
        rateNow = now;
        unitsNow = units;
        partsNow = parts;
        nowNanos = atNanos;
        if (units >= now.burst() && !now.equals(rate)) {
            unitsNow = now.burst();
            partsNow = 0;
        }
        if (nanos - atNanos > 0) {
            drain(nanos - atNanos);
            nowNanos = nanos;
        }
    }

    private void drain(long elapsed) {
        long limit = rateNow.limit();
        long whole;
        long rest;
        // The product almost always fits; ProductQuotient may allocate.
        if (Math.multiplyHigh(limit, elapsed) == 0 && limit * elapsed >= 0) {
            whole = limit * elapsed / partsPerUnit;
            rest = limit * elapsed - whole * partsPerUnit;
        } else {
            ProductQuotient returned = ProductQuotient.of(limit, elapsed, partsPerUnit);
            whole = returned.whole();
            rest = returned.remainder();
        }
        unitsNow -= whole;
        partsNow -= rest;
        if (partsNow < 0) {
            partsNow += partsPerUnit;
            unitsNow--;
        }
        if (unitsNow < 0) {
            unitsNow = 0;
            partsNow = 0;
        }
    }

    @Override
    boolean passes(Quota quota, long asked, ClockReading now) {
        look((Quota.Rate) quota, now.nanos);
        return passes(asked);
    }

    private boolean passes(long asked) {
        if (asked > rateNow.burst()) {
            return false;
        }
        long tooMany = asked - (rateNow.burst() - unitsNow);
        return tooMany < 0 || (tooMany == 0 && partsNow == 0);
    }

    @Override
    long charge(long more) {
        keep(unitsNow + more);
        everCharged += more;
        return everCharged;
    }

    private void keep(long used) {
        units = used;
        parts = partsNow;
        atNanos = nowNanos;
        rate = rateNow;
    }

    @Override
    void settle(Quota quota, long mark, long more, ClockReading now) {
        look((Quota.Rate) quota, now.nanos);
        if (more > 0) {
            long most = Math.max(unitsNow, rateNow.burst() + rateNow.limit());
            keep(Math.min(most, unitsNow + more));
            everCharged += more;
        } else {
            long chargedSince = everCharged - mark;
            keep(unitsNow - Math.max(0, Math.min(-more, unitsNow - chargedSince)));
        }
    }

    /** Reports waits beyond 292 years, which the clock cannot measure either, as about 292 years. */
    @Override
    Balance balance(OwnedQuota quota, long asked, ClockReading now) {
        look((Quota.Rate) quota.quota(), now.nanos);
        long usedRoundedUp = partsNow == 0 ? unitsNow : unitsNow + 1;
        return new Balance(
                quota,
                Math.max(0, rateNow.burst() - usedRoundedUp),
                unitsNow == 0 && partsNow == 0 ? Duration.ZERO : untilReturned(unitsNow, now),
                retryAfter(asked, now));
    }

    private Duration retryAfter(long asked, ClockReading now) {
        if (asked > rateNow.burst()) {
            return Balance.NEVER;
        }
        return passes(asked) ? Duration.ZERO : untilReturned(asked - (rateNow.burst() - unitsNow), now);
    }

    /** The time from {@code now} until that many units and the part of a unit have been returned, rounded up. */
    private Duration untilReturned(long someUnits, ClockReading now) {
        long limit = rateNow.limit();
        ProductQuotient nanos = ProductQuotient.of(someUnits, partsPerUnit, limit);
        long roundedUp = (nanos.remainder() + partsNow + limit - 1) / limit;
        return Duration.ofNanos(nanos.whole()).plusNanos(roundedUp).plusNanos(Math.max(0, nowNanos - now.nanos));
    }

    @Override
    boolean isNothing(ClockReading now) {
        look(rate, now.nanos);
        return unitsNow == 0 && partsNow == 0;
    }
}
