package io.fairgate.redis.quota;

import io.fairgate.redis.connection.SharedRedis;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The script in a real Redis, on a given clock, and a network in which a message takes the same time each way, or is lost while it is
 * cut.
 */
final class NearQuotas implements QuotaLedger {

    private static final String GIVEN_CLOCK = "local now = tonumber(ARGV[1])\n";
    private static final String SCRIPT = RedisQuotaLedger.script(GIVEN_CLOCK);

    private static final RedisCommands<String, String> REDIS = SharedRedis.commands();

    private final Scheduler time;
    private final InstantSource wall;
    private final LedgerTime known;
    Duration oneWay;
    boolean isLost;
    /** Whether requests arrive and answers do not. */
    boolean isAnswerLost;

    int calls;
    /** The batch that was sent last. */
    QuotaBatch last = new QuotaBatch("", 1, List.of(), false);

    /**
     * With nothing used.
     *
     * @param wall the clock of Redis
     * @param own the wall clock of the gateway
     */
    NearQuotas(Scheduler time, InstantSource wall, InstantSource own, Duration oneWay) {
        this.time = time;
        this.wall = wall;
        this.known = new LedgerTime(time, own);
        this.oneWay = oneWay;
    }

    static RedisCommands<String, String> redis() {
        return REDIS;
    }

    @Override
    public Mono<QuotaAnswers> call(QuotaBatch batch) {
        last = batch;
        return Mono.create(sink -> later(() -> {
            if (isLost) {
                sink.error(new IOException("connection reset"));
                return;
            }
            QuotaAnswers answers = execute(batch);
            if (!isAnswerLost) {
                later(() -> {
                    if (isLost) {
                        sink.error(new IOException("connection reset"));
                    } else {
                        known.answered(answers.micros());
                        sink.success(answers);
                    }
                });
            }
        }));
    }

    private void later(Runnable action) {
        var unused = time.createWorker().schedule(action, oneWay.toNanos(), TimeUnit.NANOSECONDS);
    }

    QuotaAnswers execute(QuotaBatch batch) {
        calls++;
        Instant now = wall.instant();
        long micros = TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1_000;
        QuotaBatch.Encoded encoded = batch.encoded(known.now());
        List<Object> answer = REDIS.eval(
                SCRIPT,
                ScriptOutputType.MULTI,
                RedisQuotaLedger.keys(encoded),
                RedisQuotaLedger.arguments(Long.toString(micros), encoded));
        return QuotaBatch.answers(answer);
    }
}
