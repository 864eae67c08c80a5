package io.fairgate.spring.refusal;

import io.fairgate.policy.Policy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Fairgate refuses a request. Refusals are expected, so it carries no stack trace. */
public abstract class RefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    protected RefusedException(String reason) {
        super(reason, null, false, false);
    }

    /**
     * The answer to the client.
     *
     * @param policy the policy in force
     */
    public abstract Refusal refusal(Policy policy);

    /** The tenant id that the refused request names, for operators; null when it names none. */
    public @Nullable String claimed() {
        return null;
    }

    /**
     * The names of the quotas that refuse, for operators.
     *
     * @param enforced false in a dry run
     */
    public List<String> quotas(boolean enforced) {
        return List.of();
    }

    /** What is wrong with the credential of the request, for operators; null when there is no more to say than the reason. */
    public @Nullable String why() {
        return null;
    }

    /** Whether the refusal belongs in the audit log. */
    public boolean isAudited() {
        return false;
    }

    /** The id of the digest of the API key in the request, for the audit log; null when there is none. */
    public @Nullable String key() {
        return null;
    }
}
