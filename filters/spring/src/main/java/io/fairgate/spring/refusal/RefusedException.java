package io.fairgate.spring.refusal;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Fairgate refuses a request. Refusals are expected, so it carries no stack trace. */
public abstract class RefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    protected RefusedException(String reason) {
        super(reason, null, false, false);
    }

    /** What the client gets. */
    public abstract Refusal refusal(RefusalTerms terms);

    /** The id of a tenant that the request names without proof, for operators; null when it names none. */
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

    /** Whether the refusal belongs into the audit log. */
    public boolean isAudited() {
        return false;
    }

    /** The id of the digest of the API key that the request shows, for the audit log; null when it shows none. */
    public @Nullable String key() {
        return null;
    }
}
