package io.fairgate.spring.policyfile;

/** Whether more than the routes of the policy file may take permits. Then a pool without a route is in order. */
@FunctionalInterface
public interface PoolUsers {
    boolean mayBeOthers();
}
