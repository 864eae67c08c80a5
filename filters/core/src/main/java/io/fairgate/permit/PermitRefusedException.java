package io.fairgate.permit;

import io.fairgate.tenant.TenantId;
import java.time.Duration;

/** The pool refused the request, and the work was not started. An expected outcome, so it carries no stack trace. */
public final class PermitRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String pool;
    private final transient TenantId tenant;
    private final RefusalReason reason;
    private final Duration waited;

    public PermitRefusedException(String pool, TenantId tenant, RefusalReason reason, Duration waited) {
        super(null, null, false, false);
        this.pool = pool;
        this.tenant = tenant;
        this.reason = reason;
        this.waited = waited;
    }

    /** Written only if it is read: a pool that is full refuses many requests. */
    @Override
    public String getMessage() {
        return "pool %s refused tenant %s after %s: %s".formatted(pool, tenant, waited, reason.label());
    }

    public String pool() {
        return pool;
    }

    public TenantId tenant() {
        return tenant;
    }

    public RefusalReason reason() {
        return reason;
    }

    /** How long the request had waited when it was refused. */
    public Duration waited() {
        return waited;
    }
}
