package io.fairgate.spring.identity;

import io.fairgate.policy.Policy;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusedException;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/** The request names no tenant that may pass. Carries no stack trace. */
public final class IdentityRefusedException extends RefusedException {

    private static final long serialVersionUID = 1L;

    /** The reason, with its HTTP status. */
    public enum Reason {
        MALFORMED(
                HttpStatus.BAD_REQUEST,
                "The credential or tenant id is malformed (expected: one value; an id is 1 to 64 characters of [A-Za-z0-9._-])."),
        MISSING(HttpStatus.UNAUTHORIZED, "The request does not name its tenant."),
        INVALID_KEY(HttpStatus.UNAUTHORIZED, "The API key is not valid."),
        INVALID_TOKEN(HttpStatus.UNAUTHORIZED, "The token is not valid."),
        /** Of a way of the application's own: {@link TenantResolver}. */
        INVALID_CREDENTIAL(HttpStatus.UNAUTHORIZED, "The credential is not valid."),
        UNTRUSTED_PEER(HttpStatus.FORBIDDEN, "This address is not trusted to name a tenant in a header."),
        CONTRADICTION(HttpStatus.FORBIDDEN, "The credentials of the request name different tenants."),
        UNKNOWN_TENANT(HttpStatus.FORBIDDEN, "The tenant is unknown."),
        IDENTITY_UNAVAILABLE(
                HttpStatus.SERVICE_UNAVAILABLE,
                "The tenant cannot be identified now: what the gateway needs to verify the credential is not available.");

        /** The reason in responses, logs and metrics. */
        public final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');

        final HttpStatus status;
        final String detail;

        Reason(HttpStatus status, String detail) {
            this.status = status;
            this.detail = detail;
        }
    }

    private final Reason reason;
    private final transient @Nullable TenantId claimed;
    private final @Nullable String key;
    private final @Nullable String why;

    /** A refusal without details of the request. */
    public IdentityRefusedException(Reason reason) {
        this(reason, null, null);
    }

    private IdentityRefusedException(Reason reason, String why) {
        super(reason.label);
        this.reason = reason;
        this.claimed = null;
        this.key = null;
        this.why = why;
    }

    /** @param why what is wrong with the token, in words that contain nothing of it */
    static IdentityRefusedException ofToken(String why) {
        return new IdentityRefusedException(Reason.INVALID_TOKEN, why);
    }

    /**
     * A refusal with details for an operator.
     *
     * @param claimed the tenant id that the request names; null when it names no well-formed id
     * @param key the id of the digest of the API key in the request; null when there is none
     */
    public IdentityRefusedException(Reason reason, @Nullable TenantId claimed, @Nullable String key) {
        super(reason.label);
        this.reason = reason;
        this.claimed = claimed;
        this.key = key;
        this.why = null;
    }

    public Reason reason() {
        return reason;
    }

    @Override
    public @Nullable String claimed() {
        return claimed == null ? null : claimed.value();
    }

    @Override
    public boolean isAudited() {
        return true;
    }

    @Override
    public @Nullable String key() {
        return key;
    }

    @Override
    public @Nullable String why() {
        return why;
    }

    @Override
    public Refusal refusal(Policy policy) {
        Duration retryAfter = reason == Reason.IDENTITY_UNAVAILABLE ? Duration.ofSeconds(1) : null;
        return new Refusal(reason.status, reason.label, reason.detail, List.of(), retryAfter, fields(policy));
    }

    private Consumer<HttpHeaders> fields(Policy policy) {
        return reason.status == HttpStatus.UNAUTHORIZED
                ? headers -> Challenges.of(policy.identification()).add(headers, reason == Reason.INVALID_TOKEN)
                : Refusal.NO_FIELDS;
    }
}
