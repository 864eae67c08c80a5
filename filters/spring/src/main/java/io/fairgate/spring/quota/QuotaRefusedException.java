package io.fairgate.spring.quota;

import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.spring.refusal.RateLimitFields;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusalTerms;
import io.fairgate.spring.refusal.RefusedException;
import java.time.Duration;
import java.util.List;
import org.springframework.http.HttpHeaders;
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

    QuotaDecision decision() {
        return decision;
    }

    @Override
    public List<String> quotas(boolean enforced) {
        return enforced ? decision.violated() : decision.wouldRefuse();
    }

    @Override
    public Refusal refusal(RefusalTerms terms) {
        HttpHeaders headers = new HttpHeaders();
        RateLimitFields.add(
                headers, decision.balances(), terms.policy().quotaTerms().told());
        Duration wait = decision.retryAfter();
        return new Refusal(
                HttpStatus.TOO_MANY_REQUESTS,
                REASON,
                "The tenant's quota is used up.",
                decision.violated(),
                wait.equals(Balance.NEVER) ? null : terms.spread(wait),
                headers);
    }
}
