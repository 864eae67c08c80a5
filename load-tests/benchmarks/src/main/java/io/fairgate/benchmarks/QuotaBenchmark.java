package io.fairgate.benchmarks;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Checks a request against a rate and a calendar quota of its tenant, and charges both; the request always passes. The
 * baseline is the readings of both clocks alone, for the check and for the charge.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class QuotaBenchmark {

    static final int BATCH = 100;

    private final EmbeddedQuotas quotas = new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system());
    private final InstantSource wall = InstantSource.system();
    private final QuotaSet set = QuotaSet.of(
            TenantId.of("acme"),
            new Quota.Rate("burst", 1_000_000_000, Duration.ofSeconds(1), 1_000_000_000),
            new Quota.Calendar("daily", Quota.MAX_LIMIT, Quota.CalendarUnit.DAY, ZoneOffset.UTC));
    private final Listening subscriber = new Listening();

    @Benchmark
    public void clocks(Blackhole blackhole) {
        for (int i = 0; i < BATCH; i++) {
            blackhole.consume(System.nanoTime());
            blackhole.consume(wall.millis());
            blackhole.consume(System.nanoTime());
            blackhole.consume(wall.millis());
        }
    }

    @Benchmark
    public void decide(Blackhole blackhole) {
        for (int i = 0; i < BATCH; i++) {
            blackhole.consume(quotas.checkNow(set, 1));
            blackhole.consume(quotas.chargeNow(set, 1));
        }
    }

    /** As for a request that does not wait. */
    @Benchmark
    public void chargeOnly(Blackhole blackhole) {
        for (int i = 0; i < BATCH; i++) {
            blackhole.consume(quotas.chargeNow(set, 1));
        }
    }

    /** The same, in the gateway's way. */
    @Benchmark
    public void subscribeChargeOnly() {
        for (int i = 0; i < BATCH; i++) {
            quotas.newCharge(set, 1).charge().subscribe(subscriber);
        }
    }

    /** The gateway's way for a request that waits; the charge can be settled. */
    @Benchmark
    public void subscribe() {
        for (int i = 0; i < BATCH; i++) {
            quotas.check(set, 1).subscribe(subscriber);
            quotas.newCharge(set, 1).charge().subscribe(subscriber);
        }
    }
}
