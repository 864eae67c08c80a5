package io.fairgate.gateway;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * What BlockHound finds on event loops and timers, and takes a lock for a moment only. It is installed before the first test
 * (blockhound-junit-platform): a timer thread that is inside a queue by then would leave its lock broken later.
 */
public final class AllowedToBlock implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder
                // Netty's allocator takes a lock for a moment when it grows; there is no code of ours below it.
                .allowBlockingCallsInside("io.netty.buffer.AdaptivePoolingAllocator$Magazine", "free")
                // Reactor's own integration allows "offer" of this queue alone. The lock is held for a moment, and an
                // error thrown while it is acquired would leave it broken: whoever comes next would park for good.
                .allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "remove")
                .allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "size");
    }
}
