package io.fairgate.spring.actuator;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.shares.ShareGroups;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import reactor.core.publisher.Mono;

/** {@code /actuator/quotas/TENANT}: what is left of each quota of a tenant and of the groups above it. */
@WebEndpoint(id = "quotas")
public record QuotasEndpoint(PolicyHolder policy, Quotas quotas) {

    /**
     * What is left of one quota.
     *
     * @param quota its name; that of a group's quota is {@code group/name}
     * @param most the most units that can be left: the burst of a rate, and the limit of the others
     * @param untilFullSeconds the time until nothing of it is used; null when used units do not come back
     * @param enforced false for a dry run
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Left(
            String quota,
            String kind,
            long limit,
            long most,
            long remaining,
            @Nullable Double untilFullSeconds,
            boolean enforced) {

        static Left of(Balance balance) {
            Quota quota = balance.quota();
            return new Left(
                    balance.of().label(),
                    kind(quota),
                    quota.limit(),
                    quota instanceof Quota.Rate rate ? rate.burst() : quota.limit(),
                    balance.remaining(),
                    balance.untilFull().equals(Balance.NEVER)
                            ? null
                            : balance.untilFull().toNanos() / 1e9,
                    balance.of().enforced());
        }

        private static String kind(Quota quota) {
            if (quota instanceof Quota.Rate) {
                return "rate";
            } else if (quota instanceof Quota.Sliding) {
                return "sliding";
            }
            return quota instanceof Quota.Calendar ? "calendar" : "total";
        }
    }

    /** Empty for a tenant without quotas; for a tenant that the policy does not let in there is no answer, which is 404. */
    @ReadOperation
    public Mono<WebEndpointResponse<?>> of(@Selector String tenant) {
        Policy current = policy.current();
        TenantPolicy member = TenantId.isWellFormed(tenant) ? current.members().get(TenantId.of(tenant)) : null;
        // Those that it does not name share the quotas of "unknown".
        TenantPolicy shown = member == null ? current.unknown() : member;
        if (shown == null) {
            return Mono.empty();
        }
        Mono<WebEndpointResponse<?>> left = quotas.balances(QuotaSet.of(all(shown, current)))
                .map(balances -> new WebEndpointResponse<>(
                        balances.stream().map(Left::of).toList()));
        return left.onErrorResume(
                QuotasUnavailableException.class,
                lost -> Mono.just(new WebEndpointResponse<>(
                        Map.of("reason", "backend-lost", "detail", String.valueOf(lost.getMessage())),
                        WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE)));
    }

    private static List<OwnedQuota> all(TenantPolicy tenant, Policy policy) {
        List<OwnedQuota> all = new ArrayList<>(QuotaSets.own(tenant, policy));
        String group = tenant.parent();
        while (group != null) {
            all.addAll(QuotaSets.own(group, policy));
            ShareGroups.Group above = policy.groups().get(group);
            group = above == null ? null : above.parent();
        }
        return all;
    }
}
