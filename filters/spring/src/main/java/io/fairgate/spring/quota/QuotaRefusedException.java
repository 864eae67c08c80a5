package io.fairgate.spring.quota;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaTerms.HeaderStyle;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.spring.refusal.RateLimitFields;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;
import io.fairgate.spring.refusal.RetryAfter;
import java.time.Duration;
import java.util.List;
import org.springframework.http.HttpStatus;

/** The tenant has used up a quota. Carries no stack trace. */
public final class QuotaRefusedException extends RefusedException {

    static final String REASON = "quota";

    private static final long serialVersionUID = 1L;

    private final transient QuotaDecision decision;

    QuotaRefusedException(QuotaDecision decision) {
        super(REASON);
        this.decision = decision;
    }

    @Override
    public List<String> quotas(boolean enforced) {
        return enforced ? decision.violated() : decision.wouldRefuse();
    }

    @Override
    public Refusal refusal(Policy policy) {
        HeaderStyle style = policy.quotaTerms().headerStyle();
        Duration wait = decision.retryAfter();
        return new Refusal(
                HttpStatus.TOO_MANY_REQUESTS,
                REASON,
                "The tenant's quota is used up.",
                decision.violated(),
                wait.equals(Balance.NEVER) ? null : RetryAfter.RANDOM.spread(wait),
                headers -> RateLimitFields.add(headers, decision.balances(), style));
    }
}
