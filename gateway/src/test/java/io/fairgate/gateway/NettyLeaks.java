package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Netty's leak detector, which records buffers that were collected without a release. Netty creates it because the system
 * property {@code io.netty.customResourceLeakDetector} names it. Reading the log instead would not work, because Spring Boot
 * configures the log again for each gateway.
 */
public final class NettyLeaks<T> extends ResourceLeakDetector<T> {

    private static final ExtensionContext.Namespace STORE = ExtensionContext.Namespace.create(NettyLeaks.class);

    /**
     * Lettuce allocates a buffer when a connection is registered with an event loop, and releases it when the connection is no
     * longer registered. If the event loop ends in between, as when a gateway ends while it connects again, Netty does not call
     * Lettuce any more. That is one buffer at the end of a process, and nothing of a request.
     */
    private static final String LETTUCE_AT_THE_END = "io.lettuce.core.protocol.CommandHandler.channelRegistered";

    private static final long MOST_WAIT_MILLIS = 5_000;
    private static final Queue<String> FOUND = new ConcurrentLinkedQueue<>();
    private static final AtomicInteger DETECTORS = new AtomicInteger();

    /** Called by Netty. */
    public NettyLeaks(Class<?> resourceType, int samplingInterval) {
        super(resourceType, samplingInterval);
        DETECTORS.incrementAndGet();
    }

    /** Netty requires this constructor, but does not call it. */
    public NettyLeaks(Class<?> resourceType, int samplingInterval, long maxActive) {
        this(resourceType, samplingInterval);
    }

    @Override
    protected void reportTracedLeak(String resourceType, String records) {
        if (!records.contains(LETTUCE_AT_THE_END)) {
            FOUND.add(resourceType + records);
        }
    }

    @Override
    protected void reportUntracedLeak(String resourceType) {
        FOUND.add(resourceType);
    }

    /**
     * Looks for leaks when all tests of the class have run: a garbage collection after each test took a quarter of the processor
     * time of all tests here.
     */
    static void assertNoneAfterTheClassOf(ExtensionContext test) {
        ExtensionContext ofTheClass = test;
        while (ofTheClass.getTestMethod().isPresent()) {
            ofTheClass = ofTheClass.getParent().orElseThrow();
        }
        ofTheClass.getStore(STORE).computeIfAbsent(NettyLeaks.class, key -> (AutoCloseable) NettyLeaks::assertNone);
    }

    /** Returns when the JVM has told of objects that were collected, which it does some time after the collection. */
    private static void collectGarbage() throws InterruptedException {
        ReferenceQueue<Object> collected = new ReferenceQueue<>();
        PhantomReference<Object> garbage = new PhantomReference<>(new Object(), collected);
        for (int i = 0; i < 2; i++) {
            System.gc();
            if (collected.remove(MOST_WAIT_MILLIS) == garbage) {
                return;
            }
        }
    }

    private static void assertNone() throws InterruptedException {
        collectGarbage();
        // Netty looks for collected buffers when it makes a new one.
        for (int i = 0; i < 8; i++) {
            ByteBufAllocator.DEFAULT.directBuffer(16).release();
        }
        assertThat(DETECTORS).as("leak detectors that Netty has made of this").hasPositiveValue();
        List<String> found = new ArrayList<>();
        for (String leak = FOUND.poll(); leak != null; leak = FOUND.poll()) {
            found.add(leak);
        }
        assertThat(found).as("what Netty's leak detector has found").isEmpty();
    }
}
