package io.fairgate.spring.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.policy.TokenRules;
import io.fairgate.shares.ShareSettings;
import io.fairgate.spring.RequestWithoutConnection;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.metrics.RouteCounters;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.DecisionLog;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RecordLog;
import io.fairgate.spring.refusal.RefusalHandler;
import io.fairgate.tenant.TenantId;
import io.fairgate.time.MonotonicScheduler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.adapter.DefaultServerWebExchange;
import org.springframework.web.server.i18n.AcceptHeaderLocaleContextResolver;
import org.springframework.web.server.i18n.LocaleContextResolver;
import org.springframework.web.server.session.DefaultWebSessionManager;
import org.springframework.web.server.session.WebSessionManager;

/** A million unknown ids. */
class InventedIdsTest {

    private static final int IDS = 1_000_000;
    private static final long MEGABYTE = 1024 * 1024;
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

    static final Authenticator.Beans NO_BEANS = source -> {
        throw new AssertionError(source);
    };

    private static final WebSessionManager SESSIONS = new DefaultWebSessionManager();
    private static final ServerCodecConfigurer CODECS = ServerCodecConfigurer.create();
    private static final LocaleContextResolver LOCALES = new AcceptHeaderLocaleContextResolver();

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private static PolicyHolder policy(boolean letIn) {
        TenantId member = TenantId.of("acme");
        @Nullable
        TenantPolicy unknown =
                letIn ? new TenantPolicy(TenantId.UNKNOWN, "plan", ShareSettings.EQUAL, List.of()) : null;
        return new PolicyHolder(new Policy(
                List.of(new IdentitySource.Header("X-Tenant-Id", List.of(Cidr.parse("127.0.0.0/8")))),
                Map.of(member, new TenantPolicy(member, "plan", ShareSettings.EQUAL, List.of())),
                unknown,
                Map.of()));
    }

    @Tag("long")
    @ParameterizedTest(name = "let in: {0}")
    @ValueSource(booleans = {false, true})
    void a_million_invented_ids_leave_no_state_and_no_series(boolean letIn) throws InterruptedException {
        PolicyHolder policy = policy(letIn);
        FairgateMeters meters = new FairgateMeters(policy, registry, 100, MonotonicScheduler.INSTANCE);
        RecordLog audit = new RecordLog(RecordLog.AUDIT, meters.recordsLost(RecordLog.AUDIT), quiet());
        Decisions decisions =
                new Decisions(policy, new DecisionLog(), audit, new RouteCounters(meters), InstantSource.system());
        TenantIdentifier tenants = new TenantIdentifier(policy, Authenticator.Tokens.NONE, NO_BEANS, decisions, meters);
        RefusalHandler handler = new RefusalHandler(decisions, meters);
        // First fills everything that is bounded, so that only unbounded growth is measured.
        ask(tenants, handler, 0, 10_000);
        long heap = heap();
        int series = registry.getMeters().size();
        ask(tenants, handler, 10_000, IDS);
        assertThat(heap() - heap).isLessThan(64 * MEGABYTE);
        assertThat(registry.getMeters()).hasSize(series);
        audit.destroy();
    }

    /** Takes every record, and prints none. */
    private static Logger quiet() {
        ch.qos.logback.classic.Logger logger = new LoggerContext().getLogger("io.fairgate.audit");
        logger.setLevel(Level.INFO);
        return logger;
    }

    @BeforeEach
    void printNoRefusals() {
        ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger(RefusalHandler.class)).setLevel(Level.INFO);
    }

    private static void ask(TenantIdentifier tenants, RefusalHandler handler, int from, int to) {
        for (int i = from; i < to; i++) {
            ServerWebExchange exchange = exchange(new Request("invented-" + i));
            tenants.require(exchange)
                    .then()
                    .onErrorResume(refused -> handler.handle(exchange, refused))
                    .block();
        }
    }

    static ServerWebExchange exchange(ServerHttpRequest request) {
        return new DefaultServerWebExchange(request, new MockServerHttpResponse(), SESSIONS, CODECS, LOCALES);
    }

    private static final class Request extends RequestWithoutConnection {

        Request(String tenant) {
            super(HttpMethod.GET, headers(tenant));
        }

        private static HttpHeaders headers(String tenant) {
            HttpHeaders headers = new HttpHeaders();
            headers.set("X-Tenant-Id", tenant);
            return headers;
        }

        @Override
        public InetSocketAddress getRemoteAddress() {
            return PEER;
        }
    }

    private static long heap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void tokens_without_their_library_are_refused_with_the_reason() {
        assertThatThrownBy(() -> Authenticator.Tokens.NONE.authenticator(new IdentitySource.Jwt(
                        "Authorization",
                        true,
                        new TokenRules("i", "a", "tenant", Set.of("RS256"), Duration.ZERO),
                        new KeySetLocation("keys.json", Duration.ofMinutes(5)))))
                .hasMessageContaining("com.nimbusds:nimbus-jose-jwt");
    }
}
