/**
 * Tests for backends: the contracts that the tests of every implementation inherit, the seeded model harness, and the
 * simulator that drives the scheduler through hours of virtual time. Nothing here has threads, sleeps or reads a clock; the
 * same seed gives the same run on every machine.
 */
@NullMarked
package io.fairgate.testkit;

import org.jspecify.annotations.NullMarked;
