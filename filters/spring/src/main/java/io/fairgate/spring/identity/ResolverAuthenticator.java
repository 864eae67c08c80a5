package io.fairgate.spring.identity;

import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Fuseable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/** Identification by a bean of the application. What fails in the bean refuses the request, and is logged once a minute. */
final class ResolverAuthenticator implements Authenticator {

    static final int LONGEST_WAIT_SECONDS = 10;

    private static final Logger log = LoggerFactory.getLogger(ResolverAuthenticator.class);
    private static final long BETWEEN_LOGS = TimeUnit.MINUTES.toNanos(1);

    /** The context key of Reactor's handler for dropped errors ({@code Hooks}). */
    private static final String ON_ERROR_DROPPED = "reactor.onErrorDropped.local";

    private final String name;
    private final TenantResolver resolver;
    private final Scheduler time;
    private final AtomicLong nextLog;

    ResolverAuthenticator(String name, TenantResolver resolver, Scheduler time) {
        this.name = name;
        this.resolver = resolver;
        this.time = time;
        this.nextLog = new AtomicLong(now());
    }

    /** An error of the machine, such as a lack of memory, is thrown; one of the bean's code, such as a stack overflow, is not. */
    @Override
    public Mono<Authentication> authenticate(Credential credential) {
        try {
            Mono<String> tenant =
                    Objects.requireNonNull(resolver.resolve(credential.request()), "resolve returned null");
            if (tenant instanceof Fuseable.ScalarCallable<?> known) {
                String named = (String) known.call();
                return named == null ? Mono.empty() : Mono.just(authentication(named));
            }
            return later(tenant, credential.eventLoop());
        } catch (Exception | LinkageError | StackOverflowError | AssertionError e) {
            throw refusal(e);
        }
    }

    private Mono<Authentication> later(Mono<String> tenant, @Nullable Executor eventLoop) {
        Mono<String> inTime = first(tenant).timeout(Duration.ofSeconds(LONGEST_WAIT_SECONDS), time);
        return (eventLoop == null ? inTime : inTime.publishOn(Schedulers.fromExecutor(eventLoop)))
                .map(ResolverAuthenticator::authentication)
                .onErrorMap(this::refusal);
    }

    /**
     * The first id. The time begins even if the bean's {@code Mono} never calls back, and an error that Reactor takes for fatal is an error
     * like any other. What fails after the client has left is not worth a line in the log.
     */
    private static Mono<String> first(Mono<String> tenant) {
        return Mono.create(sink -> {
            Answer answer = new Answer(sink);
            sink.onCancel(answer);
            try {
                tenant.subscribe(answer);
            } catch (LinkageError | StackOverflowError e) {
                sink.error(e);
            }
        });
    }

    /** Passes on the answer of a bean. */
    private static final class Answer extends BaseSubscriber<String> {

        private final MonoSink<String> sink;

        Answer(MonoSink<String> sink) {
            this.sink = sink;
        }

        @Override
        public Context currentContext() {
            Consumer<Throwable> ignored = error -> {};
            return Context.of(sink.contextView()).put(ON_ERROR_DROPPED, ignored);
        }

        @Override
        protected void hookOnNext(String tenant) {
            sink.success(tenant);
        }

        @Override
        protected void hookOnComplete() {
            sink.success();
        }

        @Override
        protected void hookOnError(Throwable failure) {
            sink.error(failure);
        }
    }

    private static Authentication authentication(String named) {
        if (!TenantId.isWellFormed(named)) {
            throw new IdentityRefusedException(Reason.MALFORMED);
        }
        return new Authentication(TenantId.of(named), null);
    }

    private IdentityRefusedException refusal(Throwable failure) {
        if (failure instanceof IdentityRefusedException refused) {
            return refused;
        }
        long due = nextLog.get();
        if (now() - due >= 0 && nextLog.compareAndSet(due, now() + BETWEEN_LOGS)) {
            log.error(
                    "The bean {} could not identify the tenant of a request, which is refused; failures of the next minute are not logged.",
                    name,
                    failure);
        }
        return new IdentityRefusedException(Reason.IDENTITY_UNAVAILABLE);
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }
}
