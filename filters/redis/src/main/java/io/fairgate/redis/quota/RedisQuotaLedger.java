package io.fairgate.redis.quota;

import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisScript;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The balances in Redis. A batch is one call of a script. */
final class RedisQuotaLedger implements QuotaLedger {

    /** The first argument is the time, in tests only. */
    private static final String SERVER_CLOCK = "";

    private static final RedisScript SCRIPT =
            new RedisScript(script(RedisScript.read(RedisQuotaLedger.class, "clock.lua")));

    private final RedisConnections redis;
    private final LedgerTime time;

    RedisQuotaLedger(RedisConnections redis, Scheduler clock, InstantSource calendar) {
        this.redis = redis;
        this.time = new LedgerTime(clock, calendar);
    }

    static String script(String clock) {
        StringBuilder all = new StringBuilder(clock);
        for (String part : List.of("numbers.lua", "rate.lua", "sliding.lua", "window.lua", "quotas.lua")) {
            all.append(RedisScript.read(RedisQuotaLedger.class, part));
        }
        return all.toString();
    }

    /** Batches that are sent again name the windows of then. */
    @Override
    public Mono<QuotaAnswers> call(QuotaBatch batch) {
        return Mono.defer(() -> {
            QuotaBatch.Encoded encoded = batch.encoded(time.now());
            return SCRIPT.call(redis, keys(encoded), arguments(SERVER_CLOCK, encoded))
                    .map(QuotaBatch::answers)
                    .doOnNext(answers -> time.answered(answers.micros()));
        });
    }

    static String[] keys(QuotaBatch.Encoded encoded) {
        return encoded.keys().toArray(String[]::new);
    }

    static String[] arguments(String clock, QuotaBatch.Encoded encoded) {
        List<String> all = new ArrayList<>();
        all.add(clock);
        all.addAll(encoded.arguments());
        return all.toArray(String[]::new);
    }
}
