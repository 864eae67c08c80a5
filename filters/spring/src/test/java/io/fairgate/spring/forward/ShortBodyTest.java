package io.fairgate.spring.forward;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;

class ShortBodyTest {

    private final EmbeddedChannel upstream = new EmbeddedChannel();
    private final TestPublisher<ByteBuf> received = TestPublisher.create();
    private final ShortBody body = new ShortBody(received.flux(), upstream.eventLoop());
    private final List<ByteBuf> all = new ArrayList<>();
    private final List<String> seen = new ArrayList<>();
    private @Nullable Publisher<ByteBuf> emitted;

    @AfterEach
    void all_parts_are_released() {
        assertThat(all).allMatch(part -> part.refCnt() == 0);
        upstream.finishAndReleaseAll();
    }

    private ByteBuf part(String text) {
        ByteBuf part = Unpooled.copiedBuffer(text, UTF_8);
        all.add(part);
        return part;
    }

    private void comes(String text) {
        received.next(part(text));
    }

    /** The event loop has read what has come. */
    private void isRead() {
        upstream.runPendingTasks();
    }

    private Disposable write() {
        return body.flatMapMany(parts -> {
                    seen.add(parts instanceof Mono ? "whole" : "parts");
                    return parts;
                })
                .subscribe(this::write, failure -> seen.add(failure.getMessage()), () -> seen.add("end"));
    }

    private void write(ByteBuf part) {
        seen.add(part.toString(UTF_8));
        part.release();
    }

    @Test
    void a_body_that_has_come_at_once_is_whole() {
        write();
        comes("one ");
        comes("two ");
        comes("three");
        assertThat(seen).isEmpty();
        received.complete();
        assertThat(seen).containsExactly("whole", "one two three", "end");
        isRead();
        body.end();
        assertThat(seen).hasSize(3);
    }

    @Test
    void what_has_not_come_at_once_is_passed_on_part_by_part() {
        write();
        comes("one ");
        comes("two ");
        isRead();
        assertThat(seen).containsExactly("parts", "one two ");
        comes("three");
        assertThat(seen).contains("three");
        received.complete();
        assertThat(seen).endsWith("three", "end");
    }

    @Test
    void headers_do_not_wait_for_a_body() {
        write();
        isRead();
        assertThat(seen).containsExactly("parts");
        comes("one");
        received.complete();
        assertThat(seen).containsExactly("parts", "one", "end");
    }

    @Test
    void a_body_that_breaks_off_at_once_is_a_failure_before_anything_is_written() {
        write();
        comes("one");
        received.error(new IOException("broken"));
        assertThat(seen).containsExactly("broken");
        isRead();
        assertThat(seen).hasSize(1);
    }

    @Test
    void one_that_breaks_off_later_is_begun() {
        write();
        comes("one");
        isRead();
        received.error(new IOException("broken"));
        assertThat(seen).containsExactly("parts", "one", "broken");
    }

    @Test
    void a_client_that_leaves_before_it_is_known_gets_nothing() {
        Disposable writing = write();
        comes("one");
        writing.dispose();
        received.assertCancelled();
        isRead();
        assertThat(seen).isEmpty();
    }

    @Test
    void a_client_that_leaves_in_between_cancels_the_rest() {
        Disposable writing = write();
        comes("one");
        isRead();
        writing.dispose();
        received.assertCancelled();
        assertThat(seen).containsExactly("parts", "one");
    }

    @Test
    void what_is_never_written_is_released() {
        body.subscribe(whole -> emitted = whole);
        comes("one");
        received.complete();
        assertThat(emitted).isInstanceOf(Mono.class);
        body.end();
        assertThat(Flux.from(emitted).collectList().block()).isEmpty();
    }

    @Test
    void parts_that_are_never_written_are_released() {
        body.subscribe(parts -> emitted = parts);
        comes("one");
        isRead();
        comes("two");
        assertThat(emitted).isInstanceOf(Flux.class);
        body.end();
        received.next(part("three"));
        received.complete();
    }

    /** Parts come, the event loop decides, and the client leaves, all at the same time. */
    @Test
    void nothing_is_kept_when_a_client_leaves_on_another_thread() throws InterruptedException, ExecutionException {
        EventLoop loop = new DefaultEventLoop();
        try {
            for (int round = 0; round < 3_000; round++) {
                List<ByteBuf> parts = Stream.generate(
                                () -> ByteBufAllocator.DEFAULT.buffer(8).writeInt(1))
                        .limit(4)
                        .toList();
                ShortBody racing = new ShortBody(new Received(parts, round % 4, loop), loop);
                parts.forEach(ByteBuf::retain); // A part that is released twice is seen as well.
                Disposable writing = racing.flatMapMany(all ->
                                all instanceof Mono ? Mono.from(all).doOnDiscard(ByteBuf.class, ByteBuf::release) : all)
                        .subscribe(ByteBuf::release);
                for (int spin = ThreadLocalRandom.current().nextInt(1_000); spin > 0; spin--) {
                    Thread.onSpinWait();
                }
                writing.dispose();
                racing.end();
                for (int turn = 0; turn < 3; turn++) {
                    loop.submit(() -> {}).get();
                }
                assertThat(parts).as("round %d", round).allMatch(part -> part.refCnt() == 1);
                parts.forEach(ByteBuf::release);
            }
        } finally {
            var unused = loop.shutdownGracefully();
        }
    }

    /** Sends each part in a task of the event loop, some of them later, and keeps none once it is cancelled, as Reactor Netty does. */
    private static final class Received extends Flux<ByteBuf> {

        private final List<ByteBuf> parts;
        private final int later;
        private final EventLoop loop;
        private volatile boolean isCancelled;

        Received(List<ByteBuf> parts, int later, EventLoop loop) {
            this.parts = parts;
            this.later = later;
            this.loop = loop;
        }

        @Override
        public void subscribe(CoreSubscriber<? super ByteBuf> reader) {
            loop.execute(() -> reader.onSubscribe(new Subscription() {
                @Override
                public void request(long n) {}

                @Override
                public void cancel() {
                    isCancelled = true;
                }
            }));
            for (int i = 0; i < parts.size(); i++) {
                ByteBuf part = parts.get(i);
                execute(i, () -> {
                    if (isCancelled) {
                        part.release();
                    } else {
                        reader.onNext(part);
                    }
                });
            }
            execute(parts.size(), () -> {
                if (!isCancelled) {
                    reader.onComplete();
                }
            });
        }

        private void execute(int part, Runnable task) {
            if (part + later > parts.size()) {
                loop.execute(() -> loop.execute(task));
            } else {
                loop.execute(task);
            }
        }
    }
}
