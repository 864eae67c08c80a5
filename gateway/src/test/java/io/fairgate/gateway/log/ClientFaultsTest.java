package io.fairgate.gateway.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import ch.qos.logback.core.spi.FilterReply;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.netty.channel.AbortedException;

class ClientFaultsTest {

    private final Throwable ofClient = Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "for the test");

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final ClientFaults faults = new ClientFaults(nanos::get);
    private final LoggerContext loggers = new LoggerContext();
    private final Logger transport = loggers.getLogger("reactor.netty.transport.ServerTransport");
    private final ListAppender<ILoggingEvent> said = new ListAppender<>();

    @BeforeEach
    void listen() {
        loggers.getLogger("ROOT").setLevel(Level.INFO);
        said.start();
        ((Logger) LoggerFactory.getLogger(ClientFaults.class)).addAppender(said);
    }

    @AfterEach
    void forget() {
        ((Logger) LoggerFactory.getLogger(ClientFaults.class)).detachAppender(said);
    }

    private FilterReply decide(Logger logger, Level level, Throwable failure) {
        return faults.decide(null, logger, level, "onUncaughtException", new Object[0], failure);
    }

    private List<String> said() {
        return said.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void errors_of_clients_are_said_once_a_minute() {
        for (int i = 0; i < 10; i++) {
            assertThat(decide(transport, Level.ERROR, ofClient)).isEqualTo(FilterReply.DENY);
        }
        assertThat(said()).hasSize(1).first().asString().contains("1 since the start", "for the test");
        nanos.addAndGet(59_999_999_999L);
        decide(transport, Level.WARN, new AbortedException("left"));
        assertThat(said()).hasSize(1);
        nanos.addAndGet(1);
        decide(transport, Level.ERROR, new IOException("Connection reset by peer"));
        assertThat(said()).hasSize(2).last().asString().contains("12 since the start", "reset by peer");
    }

    @Test
    void of_dropped_errors_only_those_of_clients_that_left_are_counted() {
        Logger dropped = loggers.getLogger("reactor.core.publisher.Operators");
        assertThat(decide(dropped, Level.ERROR, new AbortedException("left"))).isEqualTo(FilterReply.DENY);
        assertThat(decide(dropped, Level.ERROR, new IOException("Connection reset by peer")))
                .isEqualTo(FilterReply.DENY);
        assertThat(said()).hasSize(1);
        assertThat(decide(dropped, Level.ERROR, new IOException("Too many open files")))
                .isEqualTo(FilterReply.NEUTRAL);
        assertThat(decide(dropped, Level.ERROR, new IllegalStateException("a bug")))
                .isEqualTo(FilterReply.NEUTRAL);
    }

    @Test
    void all_other_messages_pass() {
        Logger other = loggers.getLogger("io.fairgate.gateway");
        assertThat(decide(other, Level.ERROR, ofClient)).isEqualTo(FilterReply.NEUTRAL);
        assertThat(decide(transport, Level.ERROR, new IllegalStateException("a bug")))
                .isEqualTo(FilterReply.NEUTRAL);
        assertThat(decide(transport, Level.WARN, new IOException("Too many open files")))
                .isEqualTo(FilterReply.NEUTRAL);
        assertThat(decide(transport, Level.INFO, ofClient)).isEqualTo(FilterReply.NEUTRAL);
        assertThat(faults.decide(null, transport, Level.ERROR, "without a failure", null, null))
                .isEqualTo(FilterReply.NEUTRAL);
        assertThat(said()).isEmpty();
    }

    @Test
    void with_level_debug_each_is_logged_as_it_is() {
        transport.setLevel(Level.DEBUG);
        assertThat(decide(transport, Level.ERROR, ofClient)).isEqualTo(FilterReply.NEUTRAL);
    }
}
