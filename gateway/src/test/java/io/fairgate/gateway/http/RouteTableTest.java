package io.fairgate.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.gateway.http.RouteTable.Route;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;

/** The table over real HTTP: the routes of paths, and unknown paths. */
class RouteTableTest {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private static final HttpListener SERVER = HttpListener.listen(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            new RouteTable(
                    List.of(
                            new Route(HttpMethod.GET, "/", telling("root")),
                            new Route(HttpMethod.GET, "/peers/", telling("all")),
                            new Route(HttpMethod.PUT, "/peers/{id}", telling("one")),
                            new Route(HttpMethod.PUT, "/peers/{id}/{semaphore}", telling("two")),
                            new Route(HttpMethod.DELETE, "/peers/{id}/{semaphore}", telling("less")),
                            new Route(HttpMethod.GET, "/peers/{id}/is_acquired", telling("asked")),
                            new Route(HttpMethod.DELETE, "/peers/7/A", telling("late")),
                            new Route(
                                    HttpMethod.POST,
                                    "/echo",
                                    call -> call.body(5, new IllegalStateException("long"), new Exception("slow"))
                                            .flatMap(body -> call.answer(HttpStatus.OK, "text/plain", body)))),
                    call -> call.answer(HttpStatus.NOT_FOUND, "text/plain", "not here"),
                    call -> call.answer(HttpStatus.METHOD_NOT_ALLOWED)),
            List.of(),
            target -> "");

    private static HttpCall.Handler telling(String name) {
        return call ->
                call.answer(HttpStatus.OK, "text/plain", name + call.parts().values());
    }

    @AfterAll
    static void end() {
        SERVER.end(Duration.ofSeconds(5));
    }

    private static HttpResponse<String> ask(String method, String path, String body) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + SERVER.port() + path);
        return CLIENT.send(
                HttpRequest.newBuilder(uri)
                        .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET | / | root[]",
                "GET | /peers/ | all[]",
                "PUT | /peers/7 | one[7]",
                "PUT | /peers/7/A | two[7, A]",
                "PUT | /peers/7/%2F%26 | two[7, /&]",
                "PUT | /peers/7/a+b%20c%2541 | two[7, a+b c%41]",
                "PUT | /peers/7/%C3%A4?x=/y | two[7, ä]",
                "PUT | /peers/7/a;b=c | two[7, a;b=c]",
                "GET | /peers/7/is_acquired | asked[7]",
                "DELETE | /peers/7/A | less[7, A]",
                "PUT | /peers/7/is_acquired | two[7, is_acquired]",
            })
    void a_path_finds_its_route(String method, String path, String told) throws Exception {
        HttpResponse<String> answer = ask(method, path, "");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo(told);
    }

    @ParameterizedTest
    @CsvSource({"/peers", "/peers//A", "/peers/7/", "/peers/7/A/", "//", "/PEERS/7", "/peers/7/A/B"})
    void every_other_path_is_unknown(String path) throws Exception {
        HttpResponse<String> answer = ask("PUT", path, "");
        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body()).isEqualTo("not here");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST | /peers/7/A | DELETE, PUT",
                "PATCH | / | GET, HEAD",
                "POST | /peers/7/is_acquired | DELETE, GET, HEAD, PUT",
            })
    void another_method_is_405_with_the_allowed_methods(String method, String path, String allow) throws Exception {
        HttpResponse<String> answer = ask(method, path, "");
        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains(allow);
        assertThat(answer.body()).isEmpty();
    }

    @Test
    void head_is_answered_like_get_without_the_body() throws Exception {
        HttpResponse<String> answer = ask("HEAD", "/peers/", "");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Length")).contains("5");
        assertThat(answer.body()).isEmpty();
    }

    @Test
    void a_body_is_read_up_to_its_bound() throws Exception {
        assertThat(ask("POST", "/echo", "12345").body()).isEqualTo("12345");
        assertThat(ask("POST", "/echo", "").body()).isEmpty();
        assertThat(ask("POST", "/echo", "123456").statusCode()).isEqualTo(500);
    }
}
