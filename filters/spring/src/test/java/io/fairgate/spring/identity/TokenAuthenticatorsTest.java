package io.fairgate.spring.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.Policy;
import io.fairgate.policy.TokenRules;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.metrics.RouteCounters;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.DecisionLog;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RecordLog;
import io.fairgate.testkit.TestTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The keys of an issuer while the policy changes. */
class TokenAuthenticatorsTest {

    private static final KeySetLocation KEYS = new KeySetLocation("/keys.json", Duration.ofMinutes(5));
    private static final Policy TOKENS = policy(new IdentitySource.Jwt(
            "Authorization", true, new TokenRules("i", "a", "tenant", Set.of("RS256"), Duration.ZERO), KEYS));
    private static final Policy HEADER =
            policy(new IdentitySource.Header("X-Tenant-Id", List.of(Cidr.parse("127.0.0.0/8"))));

    private final TokenAuthenticators authenticators = new TokenAuthenticators((keys, success) -> {}, new TestTime());
    private final PolicyHolder policy = new PolicyHolder(HEADER);

    private static Policy policy(IdentitySource source) {
        return new Policy(List.of(source), Map.of(), null, Map.of());
    }

    @BeforeEach
    void follow() {
        FairgateMeters meters = new FairgateMeters(policy, new SimpleMeterRegistry(), 100, new TestTime());
        RecordLog audit = new RecordLog(RecordLog.AUDIT, meters.recordsLost(RecordLog.AUDIT));
        Decisions decisions =
                new Decisions(policy, new DecisionLog(), audit, new RouteCounters(meters), InstantSource.system());
        policy.add(new TenantIdentifier(policy, authenticators, InventedIdsTest.NO_BEANS, decisions, meters));
    }

    @Test
    void keys_serve_the_next_policy_that_names_them() {
        policy.replace(TOKENS);
        IssuerKeys keys = authenticators.keys(KEYS);
        policy.replace(TOKENS);
        assertThat(authenticators.keys(KEYS)).isSameAs(keys);
    }

    @Test
    void keys_of_an_issuer_that_was_removed_and_is_named_again_are_fetched_again() {
        policy.replace(TOKENS);
        IssuerKeys keys = authenticators.keys(KEYS);
        policy.replace(HEADER);
        policy.replace(TOKENS);
        assertThat(authenticators.keys(KEYS)).isNotSameAs(keys);
    }

    @Test
    void keys_of_a_refused_policy_are_forgotten() {
        AtomicReference<@Nullable IssuerKeys> refused = new AtomicReference<>();
        assertThatThrownBy(() -> policy.replace(TOKENS, () -> {
                    refused.set(authenticators.keys(KEYS));
                    throw new IllegalStateException("the routes do not fit");
                }))
                .hasMessage("the routes do not fit");
        assertThat(authenticators.keys(KEYS)).isNotSameAs(refused.get());
    }
}
