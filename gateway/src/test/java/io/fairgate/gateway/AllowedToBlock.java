package io.fairgate.gateway;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Calls that BlockHound finds on event loops and timers, but that only take a lock for a moment. It is installed before the first
 * test ({@link BlockHoundInTests}): a timer thread that is in a queue at that moment would later leave its lock broken.
 */
public final class AllowedToBlock implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder
                // Netty's allocator takes a lock for a moment when it grows; there is no code of ours below it.
                .allowBlockingCallsInside("io.netty.buffer.AdaptivePoolingAllocator$Magazine", "free")
                // Reactor's own integration allows "offer" of this queue alone. The lock is held for a moment, and an
                // error thrown while it is acquired would leave it broken: the next thread would park for ever.
                .allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "remove")
                .allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "size")
                // Random bytes of the system, for handshakes of TLS: the system does not wait for them.
                .allowBlockingCallsInside("java.security.SecureRandom", "nextBytes")
                // Held for a few steps. An error here would leave the lock of the connection closed for ever.
                .allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "incrementWriters")
                .allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "doExclusive");
    }
}
