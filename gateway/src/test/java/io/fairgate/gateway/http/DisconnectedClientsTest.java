package io.fairgate.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.http.RouteTable.Route;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.RefusalReason;
import io.fairgate.spring.identity.IdentityRefusedException;
import io.fairgate.tenant.TenantId;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** A client that leaves during a request is not logged as an error. */
@ExtendWith(OutputCaptureExtension.class)
class DisconnectedClientsTest {

    private static final int CLIENTS = 20;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_client_that_leaves_in_the_middle_of_its_body_is_no_error(boolean resets, CapturedOutput output)
            throws Exception {
        CountDownLatch reading = new CountDownLatch(CLIENTS);
        CountDownLatch ended = new CountDownLatch(CLIENTS);
        Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            HttpListener listener = HttpListener.listen(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    new RouteTable(
                            List.of(new Route(
                                    HttpMethod.POST,
                                    "/",
                                    call -> call.body(100, new Exception("long"), new Exception("slow"))
                                            .doOnSubscribe(begun -> reading.countDown())
                                            .doFinally(end -> ended.countDown())
                                            .flatMap(body -> call.answer(HttpStatus.OK, "text/plain", body)))),
                            call -> Mono.empty(),
                            call -> Mono.empty()),
                    List.of(),
                    target -> "");
            Socket[] clients = new Socket[CLIENTS];
            for (int i = 0; i < CLIENTS; i++) {
                clients[i] = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                clients[i]
                        .getOutputStream()
                        .write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nab"
                                .getBytes(StandardCharsets.US_ASCII));
            }
            reading.await();
            for (Socket client : clients) {
                client.setSoLinger(resets, 0);
                client.close();
            }
            ended.await();
            listener.end(Duration.ofSeconds(10));
        } finally {
            Hooks.resetOnErrorDropped();
        }
        assertThat(dropped).isEmpty();
        assertThat(output.getAll()).doesNotContain("ERROR", "500 Server Error");
    }

    @Test
    void a_refusal_that_comes_when_the_client_has_left_is_not_logged(CapturedOutput output) {
        Context context = DisconnectedClients.notLogged(Context.empty());
        Operators.onErrorDropped(new IdentityRefusedException(IdentityRefusedException.Reason.MISSING), context);
        Operators.onErrorDropped(
                new PermitRefusedException("pool", TenantId.of("a"), RefusalReason.MAX_WAIT, Duration.ZERO), context);
        assertThat(output.getAll()).doesNotContain("ERROR");
    }

    @Test
    void other_dropped_errors_are_logged(CapturedOutput output) {
        Operators.onErrorDropped(
                new IllegalStateException("something else"),
                DisconnectedClients.notLogged(reactor.util.context.Context.empty()));
        assertThat(output.getAll()).contains("ERROR", "something else");
    }
}
