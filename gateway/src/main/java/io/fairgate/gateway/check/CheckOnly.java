package io.fairgate.gateway.check;

/**
 * A bean of this class is in a gateway that only checks a policy and settings. Such a gateway must not open a port, and must not connect to
 * the backend of gateways that serve.
 */
public final class CheckOnly {}
