package io.fairgate.spring.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fairgate.spring.RequestWithoutConnection;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/** What the bean of an application may do, in virtual time. */
class ResolverAuthenticatorTest {

    private static final Duration LIMIT = Duration.ofSeconds(ResolverAuthenticator.LONGEST_WAIT_SECONDS);

    private static final RequestWithoutConnection REQUEST =
            new RequestWithoutConnection(HttpMethod.GET, HttpHeaders.EMPTY);

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(ResolverAuthenticator.class);

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
        logger.setAdditive(false);
        logger.setLevel(Level.ERROR); // Other tests of this process switch the log off.
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(log);
        logger.setAdditive(true);
        logger.setLevel(null);
        time.dispose();
    }

    private Authenticator by(TenantResolver resolver) {
        return new ResolverAuthenticator("accounts", resolver, time);
    }

    private static Mono<Authentication> ask(Authenticator authenticator) {
        return authenticator.authenticate(new Credential(InventedIdsTest.exchange(REQUEST), null));
    }

    private static @Nullable Reason reason(Authenticator authenticator) {
        try {
            ask(authenticator).block();
            return null;
        } catch (IdentityRefusedException refused) {
            return refused.reason();
        }
    }

    @Test
    void a_tenant_that_is_known_at_once_is_emitted_at_once() throws Exception {
        Callable<?> known = (Callable<?>) ask(by(exchange -> Mono.just("acme")));
        assertThat(known.call()).isEqualTo(new Authentication(TenantId.of("acme"), null));
        assertThat(((Callable<?>) ask(by(exchange -> Mono.empty()))).call()).isNull();
    }

    @Test
    void text_that_is_no_id_is_malformed_at_once_and_later() {
        assertThat(reason(by(exchange -> Mono.just("a b")))).isEqualTo(Reason.MALFORMED);
        assertThat(reason(by(exchange -> Mono.fromSupplier(() -> "a b")))).isEqualTo(Reason.MALFORMED);
        assertThat(log.list).isEmpty();
    }

    @Test
    void a_refusal_of_the_bean_is_the_refusal_of_the_request() {
        IdentityRefusedException refused = new IdentityRefusedException(Reason.INVALID_CREDENTIAL);
        for (TenantResolver each : List.<TenantResolver>of(
                exchange -> Mono.error(refused),
                exchange -> Mono.<String>error(refused).hide(),
                exchange -> {
                    throw refused;
                })) {
            assertThatThrownBy(() -> ask(by(each)).block()).isSameAs(refused);
        }
        assertThat(log.list).isEmpty();
    }

    @Test
    void what_fails_in_the_bean_is_logged_once_a_minute_and_refused() {
        IllegalStateException failure = new IllegalStateException("no connection");
        Authenticator throwing = by(exchange -> {
            throw failure;
        });
        Authenticator failing = by(exchange -> Mono.<String>error(failure).hide());
        Authenticator known = by(exchange -> Mono.error(failure));
        Authenticator nothing = by(exchange -> null);
        Authenticator missingLibrary = by(exchange -> {
            throw new NoClassDefFoundError("no connection");
        });
        Authenticator deep = by(exchange -> Mono.fromCallable(() -> {
            throw new StackOverflowError("no connection");
        }));
        for (Authenticator each : List.of(throwing, failing, known, nothing, missingLibrary, deep)) {
            log.list.clear();
            for (int i = 0; i < 3; i++) {
                assertThat(reason(each)).isEqualTo(Reason.IDENTITY_UNAVAILABLE);
            }
            assertThat(log.list).hasSize(1).first().satisfies(line -> {
                assertThat(line.getFormattedMessage()).contains("bean accounts");
                assertThat(line.getThrowableProxy().getMessage()).isIn("no connection", "resolve returned null");
            });
            time.advanceTimeBy(Duration.ofSeconds(59));
            assertThat(reason(each)).isEqualTo(Reason.IDENTITY_UNAVAILABLE);
            assertThat(log.list).hasSize(1);
            time.advanceTimeBy(Duration.ofSeconds(1));
            assertThat(reason(each)).isEqualTo(Reason.IDENTITY_UNAVAILABLE);
            assertThat(log.list).hasSize(2);
        }
    }

    @Test
    void a_bean_that_takes_too_long_is_cancelled_and_the_request_refused() {
        AtomicBoolean cancelled = new AtomicBoolean();
        Authenticator silent = by(exchange -> Mono.<String>never().doOnCancel(() -> cancelled.set(true)));
        StepVerifier.withVirtualTime(() -> ask(silent), () -> time, Long.MAX_VALUE)
                .expectSubscription()
                .expectNoEvent(LIMIT.minusMillis(1))
                .thenAwait(Duration.ofMillis(1))
                .expectErrorSatisfies(refused -> assertThat(((IdentityRefusedException) refused).reason())
                        .isEqualTo(Reason.IDENTITY_UNAVAILABLE))
                .verify(Duration.ofSeconds(10));
        assertThat(cancelled).isTrue();
    }

    @Test
    void a_bean_that_never_calls_back_is_refused_as_well() {
        Authenticator dead = by(exchange -> new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super String> actual) {}
        });
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        ask(dead).subscribe(found -> {}, failure::set);
        time.advanceTimeBy(LIMIT);
        assertThat(failure.get()).isInstanceOf(IdentityRefusedException.class);
    }

    @Test
    void the_first_of_several_ids_counts() {
        Mono<String> two = Mono.fromDirect(Flux.just("acme", "globex"));
        assertThat(ask(by(exchange -> two)).block()).isEqualTo(new Authentication(TenantId.of("acme"), null));
    }

    @Test
    void what_fails_after_the_client_has_left_is_not_logged() {
        Logger ofReactor = (Logger) LoggerFactory.getLogger("reactor.core.publisher.Operators");
        ofReactor.setLevel(Level.ERROR);
        ofReactor.addAppender(log);
        AtomicReference<CoreSubscriber<? super String>> bean = new AtomicReference<>();
        Authenticator late = by(exchange -> new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super String> actual) {
                bean.set(actual);
                actual.onSubscribe(Operators.emptySubscription());
            }
        });
        ask(late).subscribe().dispose();
        bean.get().onError(new IllegalStateException("interrupted"));
        assertThat(log.list).isEmpty();
        ofReactor.detachAppender(log);
        ofReactor.setLevel(null);
    }

    @Test
    void a_client_that_leaves_cancels_the_bean() {
        AtomicBoolean cancelled = new AtomicBoolean();
        Authenticator silent = by(exchange -> Mono.<String>never().doOnCancel(() -> cancelled.set(true)));
        ask(silent).subscribe().dispose();
        assertThat(cancelled).isTrue();
    }
}
