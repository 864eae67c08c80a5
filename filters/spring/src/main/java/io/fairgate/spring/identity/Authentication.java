package io.fairgate.spring.identity;

import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;

/**
 * What a valid credential proves.
 *
 * @param tenant the tenant id that it names
 * @param key the id of the API key that names it; null for another kind of credential
 */
record Authentication(TenantId tenant, @Nullable String key) {}
