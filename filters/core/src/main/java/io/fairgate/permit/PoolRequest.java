package io.fairgate.permit;

import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * A request as a {@link PoolListener} sees it: the same object in each call for that request. A listener must not keep it, because
 * it keeps everything in memory that the request refers to.
 */
public interface PoolRequest {

    TenantId tenant();

    /** The class of the request within its tenant; null for none. */
    @Nullable
    String requestClass();

    /** How many permits it asked for. */
    int permits();

    /** The context of the subscriber that asked for the permits; empty for {@link PermitPool#tryAcquire}, which has no subscriber. */
    ContextView context();

    /** Keeps an object of the listener until the request has ended. There is one for each request: a second one replaces it. */
    void attach(Object attachment);

    /** What the listener has attached; null for nothing. */
    @Nullable
    Object attachment();
}
