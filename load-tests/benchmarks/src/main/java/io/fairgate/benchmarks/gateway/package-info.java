/**
 * Comparisons of gateways over HTTP: what a request costs ({@link io.fairgate.benchmarks.gateway.GatewayCost}), what a
 * refused request costs ({@link io.fairgate.benchmarks.gateway.RefusalCost}), what options of the JVM change ({@link
 * io.fairgate.benchmarks.gateway.JvmCost}), and how well a tenant is protected from
 * another ({@link io.fairgate.benchmarks.gateway.Isolation}). Every gateway, the upstream and the load are processes of
 * their own, on loopback ports.
 */
@NullMarked
package io.fairgate.benchmarks.gateway;

import org.jspecify.annotations.NullMarked;
