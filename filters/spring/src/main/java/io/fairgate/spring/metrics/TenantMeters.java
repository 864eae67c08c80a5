package io.fairgate.spring.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one tenant tag in one pool, found once: each event of a request would have to make its tags and to look
 * for them otherwise. A meter is registered at its first event, so that a page shows no series without events.
 *
 * <p>It keeps meters that may have been removed meanwhile, so {@link FairgateMeters} drops it after a removal.
 */
final class TenantMeters {

    private final FairgateMeters all;
    private final Tags tags;
    private final Map<String, Timer> waits = new ConcurrentHashMap<>();
    private final Map<String, Counter> refusals = new ConcurrentHashMap<>();
    private final Map<String, Counter> dryRunRefusals = new ConcurrentHashMap<>();
    private final Map<String, Counter> failures = new ConcurrentHashMap<>();
    private volatile @Nullable Timer holds;
    private volatile @Nullable DoubleAdder permitSeconds;

    TenantMeters(FairgateMeters all, Tags tags) {
        this.all = all;
        this.tags = tags;
    }

    /** @param outcome one of a few fixed words, like the reasons below */
    void waited(String outcome, long nanos) {
        Timer timer = waits.get(outcome);
        if (timer == null) {
            timer = all.timer(Meter.WAIT, tags.and("outcome", outcome));
            waits.put(outcome, timer);
        }
        timer.record(nanos, TimeUnit.NANOSECONDS);
    }

    /** Permits were held. */
    void held(long nanos, double seconds) {
        Timer timer = holds;
        if (timer == null) {
            timer = all.timer(Meter.HOLD, tags);
            holds = timer;
        }
        timer.record(nanos, TimeUnit.NANOSECONDS);
        DoubleAdder sum = permitSeconds;
        if (sum == null) {
            sum = all.endedPermitSeconds(tags);
            permitSeconds = sum;
        }
        sum.add(seconds);
    }

    void refused(String reason, boolean enforced) {
        Map<String, Counter> known = enforced ? refusals : dryRunRefusals;
        Counter counter = known.get(reason);
        if (counter == null) {
            counter = all.counter(Meter.REFUSALS, tags.and("reason", reason, "enforced", Boolean.toString(enforced)));
            known.put(reason, counter);
        }
        counter.increment();
    }

    void failed(String reason) {
        Counter counter = failures.get(reason);
        if (counter == null) {
            counter = all.counter(Meter.FAILURES, tags.and("reason", reason));
            failures.put(reason, counter);
        }
        counter.increment();
    }
}
