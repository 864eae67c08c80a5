package io.fairgate.gateway.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import io.fairgate.spring.metrics.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http2.Http2Exception;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.web.util.DisconnectedClientHelper;
import reactor.netty.channel.AbortedException;

/**
 * Counts the errors of connections that clients cause, by breaking HTTP or by leaving, and those of upstreams that come when a client has
 * left. Has the log say so once a minute at most. Reactor Netty and Netty would write a stack trace for each, and any client can cause thousands.
 *
 * <p>Where one of their loggers has level {@code debug}, this leaves its messages alone. Thread-safe.
 */
public final class ClientFaults extends TurboFilter implements DisposableBean {

    private static final Set<String> LOGGERS = Set.of(
            "reactor.netty.transport.ServerTransport",
            "io.netty.channel.DefaultChannelPipeline",
            "io.fairgate.gateway.http.ProxyProtocol");

    /** Logs errors that come after a subscriber has cancelled: of a client that has just left, but also bugs. */
    private static final String DROPPED = "reactor.core.publisher.Operators";

    private static final org.slf4j.Logger log = LoggerFactory.getLogger(ClientFaults.class);
    private static final long PAUSE = Duration.ofMinutes(1).toNanos();

    private final LongSupplier nanoTime;
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong toldAt;

    /** Filters the log of this process, and has the registry show the count. */
    public ClientFaults(MeterRegistry registry) {
        this(System::nanoTime);
        Meter.CLIENT_FAULTS.register(registry, Tags.empty(), count::get);
        logging().addTurboFilter(this);
    }

    ClientFaults(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        toldAt = new AtomicLong(nanoTime.getAsLong() - PAUSE);
    }

    private static LoggerContext logging() {
        return (LoggerContext) LoggerFactory.getILoggerFactory();
    }

    @Override
    public FilterReply decide(
            @Nullable Marker marker,
            Logger logger,
            Level level,
            @Nullable String format,
            @Nullable Object @Nullable [] arguments,
            @Nullable Throwable failure) {
        if (failure == null
                || !level.isGreaterOrEqual(Level.WARN)
                || Level.DEBUG.isGreaterOrEqual(logger.getEffectiveLevel())
                || !isOfClient(logger.getName(), failure)) {
            return FilterReply.NEUTRAL;
        }
        note(failure);
        return FilterReply.DENY;
    }

    private static boolean isOfClient(String logger, Throwable failure) {
        return logger.equals(DROPPED) ? hasLeft(failure) : LOGGERS.contains(logger) && isOfClient(failure);
    }

    /** The client has closed the connection, or something has failed after its request had ended. */
    private static boolean hasLeft(Throwable failure) {
        return failure instanceof Http2Exception
                || failure instanceof AbortedException
                || DisconnectedClientHelper.isClientDisconnectedException(failure);
    }

    private static boolean isOfClient(Throwable failure) {
        return failure instanceof DecoderException || failure instanceof SSLException || hasLeft(failure);
    }

    private void note(Throwable failure) {
        long all = count.incrementAndGet();
        long now = nanoTime.getAsLong();
        long last = toldAt.get();
        if (now - last >= PAUSE && toldAt.compareAndSet(last, now)) {
            log.warn(
                    "Errors of connections that clients caused: {} since the start; the latest: {} (one such line a minute at most)",
                    all,
                    failure.toString());
        }
    }

    @Override
    public void destroy() {
        logging().getTurboFilterList().remove(this);
    }
}
