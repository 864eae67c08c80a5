package io.fairgate.spring.identity;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import io.fairgate.policy.KeySetLocation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** When keys are fetched, and which requests wait for them. */
class IssuerKeysTest {

    private static final JWKSet OLD = new JWKSet(key("old"));
    private static final JWKSet NEW = new JWKSet(List.of(key("old"), key("new")));
    private static final Duration REFRESH = Duration.ofMinutes(5);

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<Sinks.One<JWKSet>> fetches = new ArrayList<>();
    private final List<Boolean> counted = new ArrayList<>();
    private final IssuerKeys keys = new IssuerKeys(
            new KeySetLocation("keys.json", REFRESH),
            Mono.defer(() -> {
                Sinks.One<JWKSet> fetch = Sinks.one();
                fetches.add(fetch);
                return fetch.asMono();
            }),
            counted::add,
            time);

    private static JWK key(String id) {
        try {
            return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A request for keys: it waits, or gets nothing, or keys. */
    private static final class Request {
        private @Nullable JWKSet got;
        private boolean ended;

        static Request of(Mono<JWKSet> keys) {
            Request request = new Request();
            var unused = keys.subscribe(set -> request.got = set, e -> {}, () -> request.ended = true);
            return request;
        }
    }

    private void succeed(JWKSet set) {
        fetches.get(fetches.size() - 1).tryEmitValue(set);
    }

    private void fail() {
        fetches.get(fetches.size() - 1).tryEmitError(new IOException("no route to host"));
    }

    private void haveOld() {
        Request.of(keys.all(null));
        succeed(OLD);
    }

    @Test
    void the_first_requests_wait_for_one_fetch() {
        Request one = Request.of(keys.all(null));
        Request other = Request.of(keys.with("old", null));
        assertThat(fetches).hasSize(1);
        assertThat(one.ended || other.ended).isFalse();
        succeed(OLD);
        assertThat(one.got).isSameAs(OLD);
        assertThat(other.got).isSameAs(OLD);
        assertThat(counted).containsExactly(true);
    }

    @Test
    void a_fetch_that_hangs_ends_after_two_seconds_without_keys() {
        Request request = Request.of(keys.all(null));
        time.advanceTimeBy(IssuerKeys.LONGEST_WAIT.minusMillis(1));
        assertThat(request.ended).isFalse();
        time.advanceTimeBy(Duration.ofMillis(1));
        assertThat(request.ended).isTrue();
        assertThat(request.got).isNull();
        succeed(OLD);
        assertThat(Request.of(keys.all(null)).got).isSameAs(OLD);
    }

    @Test
    void without_keys_there_is_at_most_one_fetch_per_second() {
        Request first = Request.of(keys.all(null));
        fail();
        assertThat(first.ended).isTrue();
        Request second = Request.of(keys.all(null));
        assertThat(second.ended).as("does not wait").isTrue();
        assertThat(fetches).hasSize(1);
        time.advanceTimeBy(IssuerKeys.PAUSE_WITHOUT_KEYS);
        Request third = Request.of(keys.all(null));
        assertThat(fetches).hasSize(2);
        succeed(OLD);
        assertThat(third.got).isSameAs(OLD);
        assertThat(counted).containsExactly(false, true);
    }

    @Test
    void keys_that_are_due_are_fetched_while_the_old_ones_serve() {
        haveOld();
        time.advanceTimeBy(REFRESH.multipliedBy(9).dividedBy(10).minusSeconds(1));
        Request.of(keys.all(null));
        assertThat(fetches).as("not before nine tenths").hasSize(1);
        time.advanceTimeBy(REFRESH.dividedBy(10).plusSeconds(1));
        assertThat(Request.of(keys.all(null)).got).isSameAs(OLD);
        assertThat(Request.of(keys.all(null)).got).isSameAs(OLD);
        assertThat(fetches).hasSize(2);
        succeed(NEW);
        assertThat(Request.of(keys.all(null)).got).isSameAs(NEW);
    }

    @Test
    void keys_that_were_unused_for_long_are_fetched_first() {
        haveOld();
        time.advanceTimeBy(REFRESH.multipliedBy(2).plusSeconds(1));
        Request first = Request.of(keys.all(null));
        Request second = Request.of(keys.with("old", null));
        assertThat(first.ended || second.ended).isFalse();
        succeed(NEW);
        assertThat(first.got).isSameAs(NEW);
        assertThat(second.got).isSameAs(NEW);
    }

    @Test
    void after_a_long_pause_requests_wait_two_seconds_in_total_for_a_hanging_fetch() {
        haveOld();
        time.advanceTimeBy(REFRESH.multipliedBy(2).plusSeconds(1));
        Request first = Request.of(keys.all(null));
        time.advanceTimeBy(IssuerKeys.LONGEST_WAIT.minusMillis(1));
        Request second = Request.of(keys.with("old", null));
        assertThat(first.ended || second.ended).isFalse();
        time.advanceTimeBy(Duration.ofMillis(1));
        assertThat(first.got).isSameAs(OLD);
        assertThat(second.got).isSameAs(OLD);
        assertThat(Request.of(keys.with("old", null)).got).as("does not wait").isSameAs(OLD);
        assertThat(fetches).hasSize(2);
    }

    @Test
    void a_hanging_issuer_delays_no_request_with_a_known_key() {
        haveOld();
        for (Duration age = Duration.ZERO; age.compareTo(REFRESH.multipliedBy(5)) < 0; age = age.plusSeconds(5)) {
            int before = fetches.size();
            assertThat(Request.of(keys.with("old", null)).got)
                    .as("after %s", age)
                    .isSameAs(OLD);
            assertThat(Request.of(keys.all(null)).got).as("after %s", age).isSameAs(OLD);
            time.advanceTimeBy(Duration.ofSeconds(5));
            if (fetches.size() > before) {
                fail();
            }
        }
        assertThat(counted).hasSizeGreaterThan(100).containsOnlyOnce(true);
    }

    @Test
    void when_a_fetch_fails_the_old_keys_stay_in_use() {
        haveOld();
        time.advanceTimeBy(REFRESH.multipliedBy(3));
        Request request = Request.of(keys.all(null));
        fail();
        assertThat(request.got).isSameAs(OLD);
        assertThat(counted).containsExactly(true, false);
    }

    @Test
    void unknown_keys_cause_at_most_one_fetch_in_ten_seconds() {
        haveOld();
        time.advanceTimeBy(IssuerKeys.PAUSE);
        List<Request> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(Request.of(keys.with("invented-" + i, null)));
        }
        assertThat(fetches).hasSize(2);
        assertThat(all).noneMatch(request -> request.ended);
        succeed(OLD);
        assertThat(all).allSatisfy(request -> assertThat(request.got).isSameAs(OLD));
        assertThat(Request.of(keys.with("invented", null)).got)
                .as("does not wait")
                .isSameAs(OLD);
        assertThat(fetches).hasSize(2);
        time.advanceTimeBy(IssuerKeys.PAUSE);
        Request request = Request.of(keys.with("new", null));
        succeed(NEW);
        assertThat(request.got).isSameAs(NEW);
    }

    @Test
    void a_known_key_waits_for_no_fetch() {
        haveOld();
        time.advanceTimeBy(IssuerKeys.PAUSE);
        Request.of(keys.with("invented", null));
        assertThat(Request.of(keys.with("old", null)).got).isSameAs(OLD);
        succeed(OLD);
    }
}
