package io.fairgate.redis;

import io.fairgate.lease.LeasedPools;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolFactory;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.lease.RedisLeases;
import io.fairgate.redis.slice.OutagePolicy;
import io.fairgate.redis.slice.RedisPermitPool;
import io.fairgate.shares.TenantShares;
import java.time.Duration;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Makes pools that all processes on the same Redis share: pools of the same name have their permits together. Closing ends the thread of
 * the heartbeats; the pools are to be closed before, and the connections after it.
 */
public final class RedisPools implements PoolFactory, AutoCloseable {

    private final RedisConnections connections;
    private final Duration failover;
    private final OutagePolicy outagePolicy;
    private final Scheduler heartbeats = Schedulers.newSingle("fairgate-heartbeats", true);

    /**
     * @param failover how long a server of Redis that was replaced may go on to accept writes
     * @param outagePolicy what this process grants while Redis does not answer; the same in all processes
     */
    public RedisPools(RedisConnections connections, Duration failover, OutagePolicy outagePolicy) {
        this.connections = connections;
        this.failover = failover;
        this.outagePolicy = outagePolicy;
    }

    /**
     * The pool grants nothing until Redis has answered, or until the policy for outages lets it, 1.4 to 3 s later. If Redis is new, the pool
     * gets its slice some seconds later.
     */
    @Override
    public PermitPool newPool(String name, PoolSettings settings, TenantShares shares, PoolListener listener) {
        return RedisPermitPool.start(name, settings, shares, listener, connections, failover, outagePolicy, heartbeats);
    }

    /**
     * Leases of permits of these pools, which all processes on the same Redis serve. To be closed before the pools.
     *
     * @param pools finds the pools of this process, which this has made, by their names
     */
    public RedisLeases newLeases(LeasedPools pools) {
        return RedisLeases.start(pools, connections, failover, heartbeats);
    }

    @Override
    public void close() {
        heartbeats.dispose();
    }
}
