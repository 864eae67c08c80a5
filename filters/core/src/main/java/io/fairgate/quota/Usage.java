package io.fairgate.quota;

import org.jspecify.annotations.Nullable;

/** What a tenant has used of one quota; an immutable value, so that a check cannot change it. */
sealed interface Usage permits RateUsage, CalendarUsage {

    /** The numbers it is judged by. */
    Quota quota();

    /** How the quota stands for a request of {@code units}; 0 asks for nothing and always passes after a charge. */
    QuotaDecision.Balance balance(long units, Moment now);

    /** With {@code units} more used, which the balance must have let pass. */
    Usage plus(long units);

    /** Whether forgetting it would make no difference at {@code now}. */
    boolean isNothing(Moment now);

    /** What {@code last} has become by {@code now} under the numbers of {@code quota}; null is nothing used yet. */
    static Usage settled(Quota quota, @Nullable Usage last, Moment now) {
        if (quota instanceof Quota.Rate rate) {
            return last instanceof RateUsage used ? used.at(rate, now.nanos()) : RateUsage.none(rate, now.nanos());
        }
        Quota.Calendar calendar = (Quota.Calendar) quota;
        return last instanceof CalendarUsage used
                ? used.at(calendar, now.wall())
                : CalendarUsage.none(calendar, CalendarWindow.of(calendar, now.wall()));
    }
}
