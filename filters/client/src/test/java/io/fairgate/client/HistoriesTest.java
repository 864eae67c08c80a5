package io.fairgate.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Holders that come, work, leave and are cancelled at any time, over a network that delays and loses, with a server that is
 * started anew now and then. At every moment no more permits are believed to be held than there are, by the holders
 * themselves, and in the end nothing is.
 */
class HistoriesTest {

    private static final int PERMITS = 3;
    private static final int HOLDERS = 12;
    private static final Duration TTL = Duration.ofSeconds(6);
    private static final Duration STEP = Duration.ofMillis(50);

    private static final class History {
        final long seed;
        final Random chance;
        final TestTime time = new TestTime();
        final ModelServer server = new ModelServer(time, Map.of("a", PERMITS, "b", PERMITS));
        final Network network = new Network(time, server);
        final LeaseClient client;
        final List<Lease> leases = new ArrayList<>();
        final List<Disposable> holders = new ArrayList<>();
        long cutOffUntil;
        int worked;
        int lost;
        boolean isFlawless;

        History(long seed) {
            this.seed = seed;
            chance = new Random(seed);
            client = new LeaseClient(network, time, chance::nextDouble);
            network.always(call -> way());
        }

        Network.Way way() {
            int kind = isFlawless ? 100 : chance.nextInt(100);
            boolean isCutOff = time.now(TimeUnit.MILLISECONDS) < cutOffUntil;
            if (kind < 5 || isCutOff) {
                return network.requestLost();
            } else if (kind < 10) {
                return network.answerLost();
            } else if (kind < 13) {
                return network.silent();
            } else if (kind < 15) {
                return network.answering(ModelServer.problem(503, "draining", "1"));
            }
            return network.delayed(upTo(kind < 25 ? 3000 : 100), upTo(kind < 25 ? 3000 : 100));
        }

        Duration upTo(int millis) {
            return Duration.ofMillis(chance.nextInt(millis));
        }

        LeaseOptions options() {
            LeaseOptions options = chance.nextInt(4) == 0
                    ? LeaseOptions.ofAll(Map.of("a", 1, "b", 1 + chance.nextInt(2)))
                    : LeaseOptions.of("a", 1 + chance.nextInt(PERMITS));
            return options.withTtl(TTL).withMaxWait(upTo(60_000));
        }

        void start() {
            Mono<Lease> work = client.withLease(options(), lease -> {
                leases.add(lease);
                return Mono.delay(upTo(30_000), time).thenReturn(lease);
            });
            holders.add(work.subscribe(lease -> worked++, e -> lost += e instanceof LeaseLostException ? 1 : 0));
        }

        void step() {
            int what = chance.nextInt(1000);
            if (what < 100) {
                holders.removeIf(Disposable::isDisposed);
                if (holders.size() < HOLDERS) {
                    start();
                }
            } else if (what < 120 && !holders.isEmpty()) {
                holders.remove(chance.nextInt(holders.size())).dispose();
            } else if (what < 122) {
                server.restart(TTL);
            } else if (what < 127 && !isFlawless) {
                cutOffUntil = time.now(TimeUnit.MILLISECONDS) + chance.nextInt(10_000);
            }
            time.advanceBy(STEP);
            assertNotTooMany();
        }

        void assertNotTooMany() {
            long now = time.now(TimeUnit.MILLISECONDS);
            leases.removeIf(lease -> !lease.isHeld());
            for (String pool : List.of("a", "b")) {
                assertThat(leases.stream()
                                .mapToInt(lease -> lease.pools().getOrDefault(pool, 0))
                                .sum())
                        .as("permits of %s at %d ms of history %d", pool, now, seed)
                        .isLessThanOrEqualTo(PERMITS);
                assertThat(server.mostHeld(pool)).isLessThanOrEqualTo(PERMITS);
            }
        }

        /**
         * All callers leave at once, whatever the network is like. What could not be given back expires: a lease after its time
         * to live, a place in the queue after the longest call and the same, and it may be granted until then.
         */
        void end() {
            holders.forEach(Disposable::dispose);
            time.advanceBy(Duration.ofSeconds(20));
            int sent = network.sent().size();
            assertThat(time.timersLeft()).isZero();
            time.advanceBy(Duration.ofSeconds(30).plus(TTL).plus(TTL));
            assertThat(server.held()).isZero();
            assertThat(server.waiting()).isZero();
            assertThat(network.sent()).hasSize(sent);
            assertThat(network.mostUnderWay()).isOne();
        }
    }

    @Test
    void whatever_happens_no_permit_is_held_twice_nor_lost_for_longer_than_its_ttl() {
        int worked = 0;
        int lost = 0;
        for (int seed = 1; seed <= 30; seed++) {
            History history = new History(seed);
            for (int step = 0; step < 3000; step++) {
                history.step();
            }
            worked += history.worked;
            lost += history.lost;
            history.end();
        }
        assertThat(worked).isGreaterThan(100);
        assertThat(lost).isGreaterThan(10);
    }

    @Test
    void where_nothing_goes_wrong_nothing_is_left_at_once() {
        History history = new History(1);
        history.isFlawless = true;
        for (int step = 0; step < 3000; step++) {
            history.step();
        }
        history.holders.forEach(Disposable::dispose);
        history.time.advanceBy(Duration.ofSeconds(1));
        assertThat(history.server.held()).isZero();
        assertThat(history.server.waiting()).isZero();
        assertThat(history.time.timersLeft()).isZero();
    }
}
