package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** The operator's page in a real Chromium. */
@Tag("browser")
class PageInBrowserTest {

    private static final String POLICY = TestPolicy.onePool("http://UPSTREAM", "permits: 4, max-wait: 1500ms")
            .replace("a: { plan", "noisy: { plan")
            .replace("b: { plan", "quiet: { plan")
            .replace("c: { plan: plan }", "c: { plan: plan, quotas: [ { name: minute, limit: 60, per: 1m } ] }")
            .replace("id: plain", "id: \"<img src=x>\"")
            .replace("Path=/plain/**", "Path=/odd/**");

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private final int managementPort = FrontProxy.freePort();
    private boolean isWithLeases;
    private Browser browser;

    @BeforeEach
    void open(TestInfo test) throws IOException {
        isWithLeases = test.getDisplayName().contains("leases");
        startGateway();
        browser = new Browser();
        browser.size(1280, 1000);
        browser.open(both.gateway().managementUrl("/"));
        eventually("#connection", "Live");
    }

    @AfterEach
    void close() {
        if (browser != null) {
            browser.close();
        }
    }

    private void startGateway() {
        both.start(
                POLICY,
                "--management.server.port=" + managementPort,
                "--fairgate.leases.enabled=" + isWithLeases,
                "--fairgate.leases.port=0");
    }

    private void eventually(String selector, String... texts) {
        RunningGateway.eventually(() -> assertThat(browser.text(selector)).contains(texts));
    }

    private SteadyLoad demo() {
        both.upstream().on("/fair/x", exchange -> {
            Thread.sleep(20);
            ScriptedUpstream.OK.answer(exchange);
        });
        String url = both.gateway().url("/fair/x");
        return new SteadyLoad().keep(16, url, "noisy").keep(1, url, "quiet");
    }

    private void assertNothingSaid() {
        assertThat(browser.console()).isEmpty();
    }

    @Test
    void it_shows_who_holds_the_permits_and_who_waits() {
        SteadyLoad load = demo();
        eventually("#all-pools", "Busy: requests wait", "4 of 4", "noisy", "quiet");
        eventually("#all-pools .bar", "noisy");
        RunningGateway.eventually(() -> {
            String label = browser.run("return document.querySelector('.bar').getAttribute('aria-label')")
                    .asString();
            assertThat(label).matches("4 of 4 permits in flight: noisy 3, quiet 1");
        });
        // The latest minute is summed up every five seconds.
        RunningGateway.eventually(
                () -> assertThat(browser.text("tbody tr")).containsPattern("noisy\\s+3\\.0\\s+[0-9.]+"));
        load.end();
        eventually("#all-pools", "Free permits", "0 of 4");
        assertNothingSaid();
    }

    @Test
    void it_finds_a_refusal_by_its_id_and_names_who_held_the_permits() {
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        List<CompletableFuture<Answer>> held = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            held.add(Answer.future(both.gateway().url("/fair/held"), "X-Tenant-Id", "noisy"));
        }
        both.gateway().awaitInFlight("pool", 4);
        Answer refused = both.ask("/fair/x", "X-Tenant-Id", "quiet");
        assertThat(refused.status()).isEqualTo(503);
        String id = refused.json("decision");

        browser.type("#decision-id", id);
        browser.click("#lookup button");
        eventually(
                "#explanation",
                "503 max-wait",
                "A request of quiet on the route fair was refused",
                "It had waited 1.5 s in the pool pool",
                "The tenants that held the permits meanwhile",
                "noisy",
                "100.0 %");
        end.countDown();
        held.forEach(CompletableFuture::join);

        eventually("#refusals", id);
        browser.type("#filter-tenant", "noisy");
        eventually("#refusals", "No refusal matches.");
        browser.type("#filter-tenant", "qui");
        eventually("#refusals tbody", id);
        browser.click("#refusals button");
        eventually("#explanation", "503 max-wait");
        browser.type("#decision-id", "0000000000000000");
        browser.click("#lookup button");
        eventually("#explanation", "does not know the decision 0000000000000000");
        // The browser itself reports the 404.
        assertThat(browser.console()).hasSize(1).allMatch(said -> said.contains("404"));
    }

    @Test
    void it_shows_the_file_in_force_and_begins_a_candidate_with_it() {
        browser.click("#policy-file summary");
        eventually("#policy-text", "permits: 4");
        browser.click("#candidate-in-force");
        RunningGateway.eventually(() -> assertThat(browser.run(
                                "const text = document.querySelector('#policy-text').textContent;"
                                        + " return text !== '' && document.querySelector('#candidate-policy').value === text")
                        .asBoolean())
                .isTrue());
        assertNothingSaid();
    }

    @Test
    void it_says_what_another_policy_would_do() {
        SteadyLoad load = demo();
        eventually("#all-pools", "Busy: requests wait");
        String policy =
                POLICY.replace("UPSTREAM", "127.0.0.1:" + both.upstream().port());
        browser.type("#candidate-policy", policy.replace("permits: 4", "permits: 2"));
        browser.click("#candidate button");
        eventually("#prediction", "4 permits, and 2 in the candidate", "recorded", "replayed", "candidate", "noisy");
        browser.type("#candidate-policy", policy.replace("permits: 4", "permit: 2"));
        browser.click("#candidate button");
        eventually("#prediction", "pools.pool.permit: unknown key");
        load.end();
        assertThat(browser.console()).hasSize(1).allMatch(said -> said.contains("422"));
    }

    @Test
    void it_says_that_the_gateway_is_away_and_goes_on_when_it_is_back() {
        both.gateway().close();
        eventually("#connection", "The gateway does not answer. What is shown is old.");
        startGateway();
        eventually("#connection", "Live");
        SteadyLoad load = demo();
        eventually("#all-pools", "Busy: requests wait");
        load.end();
    }

    @Test
    void names_are_text_and_scripts_of_others_do_not_run() {
        Answer refused = both.ask("/odd/x", "X-Tenant-Id", "unknown");
        assertThat(refused.status()).isEqualTo(403);
        browser.type("#decision-id", refused.json("decision"));
        browser.click("#lookup button");
        eventually("#explanation", "403 unknown", "named the tenant unknown", "on the route <img src=x>");
        eventually("#refusals", "<img src=x>");
        assertThat(browser.run("return document.querySelectorAll('img').length").asInt())
                .isZero();
        assertNothingSaid();
        browser.run("""
                const script = document.createElement('script');
                script.textContent = 'window.hacked = 1';
                document.body.append(script);
                const image = document.createElement('div');
                image.innerHTML = '<img src="https://evil.example/x.png" onerror="window.hacked = 1">';
                document.body.append(image);
                """);
        RunningGateway.eventually(() ->
                assertThat(browser.console()).isNotEmpty().allMatch(said -> said.contains("Content Security Policy")));
        assertThat(browser.run("return window.hacked === undefined").asBoolean())
                .isTrue();
    }

    @Test
    void a_selection_and_the_focus_outlive_the_next_numbers() {
        SteadyLoad load = demo();
        RunningGateway.eventually(
                () -> assertThat(browser.text("tbody tr")).containsPattern("noisy\\s+3\\.0\\s+[0-9.]+"));
        browser.run("""
                const name = [...document.querySelectorAll('tbody th span')].find(e => e.textContent === 'quiet');
                getSelection().selectAllChildren(name);
                document.querySelector('.card .scroll').focus();
                window.focused = 0;
                document.addEventListener('focusin', () => window.focused++);
                """);
        String at = browser.text("#at");
        RunningGateway.eventually(() -> assertThat(browser.text("#at")).isNotEqualTo(at));
        String next = browser.text("#at");
        RunningGateway.eventually(() -> assertThat(browser.text("#at")).isNotEqualTo(next));
        assertThat(browser.run("return String(getSelection())").asString()).isEqualTo("quiet");
        assertThat(browser.run("return document.activeElement.className + window.focused")
                        .asString())
                .isEqualTo("scroll0");
        load.end();
    }

    /** The row in use is moved, in both directions, and removed, and comes again. */
    @Test
    void the_row_in_use_stays_when_the_order_changes_and_when_it_is_gone() {
        String orders = "['abcd', 'cbad', 'bdac', 'c', 'acd', 'dcb', 'abcd', '']";
        for (String use : List.of("getSelection().selectAllChildren(b)", "b.focus()")) {
            JsonNode shown = browser.run("""
                    return import('/page/rows.js').then(({ Rows }) => {
                      const rows = new Rows(['name', 'number']);
                      document.body.append(rows.view);
                      const show = (order) => rows.show('Rows', [...order].map((key) => (
                        { key, cells: [{ text: key, press: () => {} }, key.toUpperCase()] })));
                      show('abc');
                      const b = rows.rows.get('b').querySelector('button');
                      %s;
                      const shown = %s.map((order) => {
                        show(order);
                        const isUsed = document.activeElement === b || String(getSelection()) === 'b';
                        return [...rows.body.children].map((row) => row.textContent).join('') + (isUsed ? '' : ' lost');
                      });
                      document.activeElement.blur();
                      getSelection().removeAllRanges();
                      show('ca');
                      shown.push(rows.body.textContent);
                      show('');
                      shown.push(String(rows.isEmpty));
                      return shown.join(' ');
                    });
                    """.formatted(use, orders));
            assertThat(shown.asString())
                    .isEqualTo("aAbBcCdD cCbBaAdD bBdDaAcC cCb– aAcCdDb– dDcCbB aAbBcCdD b– cCaA true");
        }
    }

    @Test
    void a_page_that_is_hidden_leaves_its_connection_to_others() {
        browser.run("""
                window.sources = 0;
                const real = window.EventSource;
                window.EventSource = function (url) { window.sources++; return new real(url); };
                window.EventSource.CLOSED = real.CLOSED;
                """);
        hide(true);
        String at = browser.text("#at");
        hide(false);
        RunningGateway.eventually(() -> assertThat(browser.text("#at")).isNotEqualTo(at));
        assertThat(browser.run("return window.sources").asInt()).isOne();
    }

    private void hide(boolean isHidden) {
        browser.run(
                "Object.defineProperty(document, 'hidden', { configurable: true, value: arguments[0] });"
                        + " document.dispatchEvent(new Event('visibilitychange'))",
                isHidden);
    }

    /** In light and dark, on a desk and on a phone. */
    @Test
    void everyone_can_use_it() throws IOException {
        SteadyLoad load = demo();
        both.ask("/fair/x");
        eventually("#all-pools", "Busy: requests wait");
        eventually("#refusals", "missing");
        browser.click("#refusals button");
        eventually("#explanation", "401 missing");
        browser.run(resource("/axe.min.js"));
        for (String scheme : List.of("light", "dark")) {
            browser.chromium(
                    "Emulation.setEmulatedMedia",
                    Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
            for (int width : new int[] {1280, 390}) {
                browser.chromium(
                        "Emulation.setDeviceMetricsOverride",
                        Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", width < 400));
                assertThat(browser.run("return document.documentElement.scrollWidth")
                                .asInt())
                        .as("width of the page, only tables may be wider")
                        .isLessThanOrEqualTo(width);
                JsonNode violations =
                        browser.run("return axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n =>"
                                + " n.html + n.failureSummary).join('; ')))");
                assertThat(violations.size())
                        .as("%s, %d: %s", scheme, width, violations)
                        .isZero();
                assertThat(browser.run("return document.documentElement.scrollWidth <= innerWidth")
                                .asBoolean())
                        .as("nothing is wider than the window of %d", width)
                        .isTrue();
            }
        }
        load.end();
        assertNothingSaid();
    }

    private static String resource(String name) throws IOException {
        try (InputStream file = Objects.requireNonNull(PageInBrowserTest.class.getResourceAsStream(name))) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void it_shows_leases_and_a_tenants_quotas_and_no_cluster() {
        assertThat(browser.run("return document.querySelector('#cluster-section').hidden")
                        .asBoolean())
                .isTrue();
        String id = new LeasingTenant(both.gateway(), "c")
                .acquire("1", "pool", "{\"holder\":\"nightly-7\",\"ttl\":\"5m\"}")
                .json("id");
        eventually("#leases-section", "1 leases: 1 hold permits, 0 wait.", id, "nightly-7", "pool 1");
        eventually("#all-pools", "c");
        browser.run("document.querySelector('#all-pools table button').click()");
        eventually("#all-pools", "The quotas of c, at ", "minute", "rate", "60", "100.0 %");
        new LeasingTenant(both.gateway(), "c").release(id);
        eventually("#leases-section", "0 leases: 0 hold permits, 0 wait.");
        assertNothingSaid();
    }
}
