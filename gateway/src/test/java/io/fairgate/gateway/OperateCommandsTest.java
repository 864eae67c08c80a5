package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The commands that ask a running gateway. */
@ExtendWith(OutputCaptureExtension.class)
class OperateCommandsTest {

    private static final String POLICY = TestPolicy.onePool(
                    "http://UPSTREAM", "permits: 1, max-waiting: 1, max-wait: 20s")
            .replace("c: { plan: plan }", "c: { plan: plan, quotas: [ { name: minute, limit: 5, per: 1m } ] }");

    private final Path folder;
    private final CountDownLatch release = new CountDownLatch(1);

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    OperateCommandsTest(@TempDir Path folder) {
        this.folder = folder;
    }

    @BeforeAll
    static void start() {
        both.start(POLICY, LeasingTenant.ON, "--fairgate.leases.port=0");
    }

    private int run(String command, String... args) {
        String[] all = new String[args.length + 3];
        all[0] = command;
        all[1] = "--gateway";
        all[2] = command.equals("lease")
                ? "http://127.0.0.1:" + LeasingTenant.port(both.gateway())
                : both.gateway().managementUrl("");
        System.arraycopy(args, 0, all, 3, args.length);
        return Fairgate.run(all);
    }

    private CompletableFuture<Answer> held(String tenant) {
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(release);
            ScriptedUpstream.OK.answer(exchange);
        });
        return Answer.future(both.gateway().url("/fair/held"), "X-Tenant-Id", tenant);
    }

    private static String written(Path file) throws IOException {
        return Files.exists(file) ? Files.readString(file) : "";
    }

    @Test
    void pools_and_top_show_tenants_and_who_waits(CapturedOutput output) {
        CompletableFuture<Answer> first = held("a");
        both.gateway().awaitInFlight("pool", 1);
        CompletableFuture<Answer> second = held("b");
        both.gateway().awaitWaiting("pool", 1);
        assertThat(run("pools")).isZero();
        assertThat(output.getOut())
                .contains("pool: 1 of 1 permits in flight, 1 waiting")
                .containsPattern(" {2}tenant +share +in flight +waiting +oldest wait +behind")
                .containsPattern(" {2}a +[0-9.]+ +1 +0 +0 ")
                .containsPattern(" {2}b +[0-9.]+ +0 +1 +[0-9]");
        assertThat(run("pools", "--json")).isZero();
        assertThat(output.getOut()).contains("{\"pool\":{\"permits\":1,").contains("\"oldestWaitSeconds\":");
        assertThat(run("top", "--times", "2", "--every", "0.1")).isZero();
        assertThat(output.getOut().split("pool: 1 of 1", -1)).hasSize(1 + 1 + 2);
        assertThat(run("top", "--every", "0")).isOne();
        assertThat(output.getErr()).contains("--every: 0.0 (expected: 0.1 to 3600)");
        release.countDown();
        assertThat(first.join().status()).isEqualTo(200);
        assertThat(second.join().status()).isEqualTo(200);
    }

    @Test
    void decisions_lists_refusals_and_explains_one(CapturedOutput output) {
        assertThat(run("decisions", "--reason", "none-such")).isZero();
        assertThat(output.getOut()).contains("No request was refused, or none matches.");
        CompletableFuture<Answer> first = held("a");
        both.gateway().awaitInFlight("pool", 1);
        CompletableFuture<Answer> second = held("b");
        both.gateway().awaitWaiting("pool", 1);
        Answer refused = Answer.to(both.gateway().url("/fair/x"), "X-Tenant-Id", "b");
        assertThat(refused.status()).isEqualTo(503);
        String id = refused.json("decision");
        assertThat(run("decisions", "--tenant", "b", "--reason", "queue")).isZero();
        assertThat(output.getOut()).containsPattern(id + " +20[0-9T:-]+Z +[a-z]+-queue-full +b +fair +pool +503 ");
        assertThat(run("decisions", "--route", "plain")).isZero();
        assertThat(output.getOut().split(id, -1)).hasSize(2);
        assertThat(run("decisions", id)).isZero();
        assertThat(output.getOut())
                .contains("Tenant b, route fair, path /fair/x")
                .contains("It did not wait in the pool pool.")
                .contains("1 of 1 permits were in flight, and 1 requests waited.")
                .containsPattern("held meanwhile by +permit-seconds +part");
        String unknown =
                Answer.to(both.gateway().url("/fair/x"), "X-Tenant-Id", "globx").json("decision");
        assertThat(run("decisions", unknown)).isZero();
        assertThat(output.getOut()).contains("No tenant: the request named \"globx\", route fair, path /fair/x");
        assertThat(run("decisions", "none")).isOne();
        assertThat(output.getErr()).contains("none: the gateway does not know this decision");
        release.countDown();
        assertThat(first.join().status()).isEqualTo(200);
        assertThat(second.join().status()).isEqualTo(200);
    }

    @Test
    void reload_says_what_is_in_force(CapturedOutput output) {
        assertThat(run("reload")).isZero();
        assertThat(output.getOut())
                .containsPattern(
                        "in force already\\. In force: 3 members, 1 pool, 2 routes \\(SHA-256 [0-9a-f]{12}, since 20");
    }

    @Test
    void leases_lists_them_and_ends_one(CapturedOutput output) {
        String id = new LeasingTenant(both.gateway(), "a")
                .acquire("1", "pool", "{\"holder\":\"nightly\",\"ttl\":\"5m\"}")
                .json("id");
        assertThat(run("leases", "--tenant", "a", "--pool", "pool", "--holder", "night"))
                .isZero();
        assertThat(output.getOut())
                .contains("Open leases: 1. Holding permits: 1. Waiting: 0.")
                .containsPattern(id + " +held +a +nightly +pool 1 +");
        assertThat(run("leases", "--end", id)).isZero();
        assertThat(output.getOut()).contains(id + ": ended");
        assertThat(run("leases", "--end", id)).isOne();
        assertThat(output.getErr()).contains(id + ": there is no such lease");
        assertThat(both.gateway().pool("pool").inFlight()).isZero();
    }

    @Test
    void lease_holds_permits_while_a_command_runs(CapturedOutput output) throws Exception {
        Path seen = folder.resolve("seen");
        Path end = folder.resolve("end");
        CompletableFuture<Integer> exit = CompletableFuture.supplyAsync(() -> run(
                "lease",
                "--pool",
                "pool",
                "--tenant",
                "a",
                "--",
                "sh",
                "-c",
                "echo $FAIRGATE_LEASE $FAIRGATE_TOKEN > \"$0\"; while [ ! -e \"$1\" ]; do sleep 0.05; done; exit 3",
                seen.toString(),
                end.toString()));
        RunningGateway.eventually(() -> assertThat(written(seen)).matches("[0-9a-f]{32} [0-9]+\n"));
        assertThat(both.gateway().pool("pool").inFlight()).isOne();
        assertThat(run("leases")).isZero();
        assertThat(output.getOut()).containsPattern("held +a +sh-[0-9]+ +pool 1");
        Files.createFile(end);
        assertThat(exit.join()).isEqualTo(3);
        assertThat(both.gateway().pool("pool").inFlight()).isZero();
    }

    @Test
    void a_command_whose_lease_an_operator_ends_is_ended(CapturedOutput output) throws Exception {
        Path seen = folder.resolve("seen");
        CompletableFuture<Integer> exit = CompletableFuture.supplyAsync(() -> run(
                "lease",
                "--pool=pool",
                "--tenant=a",
                "--ttl=2s",
                "sh",
                "-c",
                "sleep 60 & echo $FAIRGATE_LEASE $! > \"$0\"; wait",
                seen.toString()));
        RunningGateway.eventually(() -> assertThat(written(seen)).matches("[0-9a-f]{32} [0-9]+\n"));
        String[] words = Files.readString(seen).strip().split(" ", 2);
        assertThat(run("leases", "--end", words[0])).isZero();
        assertThat(exit.join()).isEqualTo(76);
        assertThat(ProcessHandle.of(Long.parseLong(words[1])).filter(ProcessHandle::isAlive))
                .as("what the command has started")
                .isEmpty();
        assertThat(output.getErr()).contains("pool: the lease was lost, so the command was ended");
    }

    /** That is no mistake of the caller: it may ask again. */
    @Test
    void a_lease_that_an_operator_ends_while_it_waits_may_be_asked_for_again() {
        LeasingTenant a = new LeasingTenant(both.gateway(), "a");
        String held = a.acquire("holder", "pool", "{}").json("id");
        CompletableFuture<Integer> exit =
                CompletableFuture.supplyAsync(() -> run("lease", "--pool=pool", "--tenant=b", "true"));
        both.gateway().awaitWaiting("pool", 1);
        String waiting = Answer.to(both.gateway().managementUrl("/actuator/leases?tenant=b"))
                .body()
                .replaceFirst("(?s).*\"id\":\"([0-9a-f]{32})\".*", "$1");
        assertThat(run("leases", "--end", waiting)).isZero();
        assertThat(exit.join()).isEqualTo(75);
        a.release(held);
    }

    @Test
    void lease_says_why_it_runs_nothing(CapturedOutput output) {
        assertThat(Fairgate.run("lease", "--gateway", both.upstream().url(), "--pool=pool", "--tenant=a", "true"))
                .isEqualTo(75);
        assertThat(output.getErr()).contains(": status 200 (expected: the lease port of a gateway that");
        assertThat(run("lease", "--pool=none", "--tenant=a", "true")).isEqualTo(64);
        assertThat(output.getErr()).contains("no permits of none: unknown-pool: ");
        assertThat(run("lease", "--pool=pool", "true")).isEqualTo(2);
        assertThat(output.getErr()).contains("no tenant (expected: --tenant, or a key in the environment variable");
        assertThat(run("lease", "--pool=pool", "--tenant=a", "--ttl=soon", "true"))
                .isEqualTo(2);
        assertThat(output.getErr()).contains("--ttl: soon (expected: a duration such as");
        assertThat(run("lease", "--pool=pool", "--tenant=a", "/no/such/command"))
                .isEqualTo(127);
        assertThat(output.getErr()).contains("/no/such/command: cannot be run");
        assertThat(both.gateway().pool("pool").inFlight()).isZero();
    }

    @Test
    void a_port_that_is_no_management_port_is_named(CapturedOutput output) {
        assertThat(Fairgate.run("pools", "--gateway", "http://127.0.0.1:1")).isOne();
        assertThat(output.getErr()).contains("http://127.0.0.1:1: no answer");
        assertThat(Fairgate.run("pools", "--gateway", both.gateway().url(""))).isOne();
        assertThat(output.getErr()).contains(": status 404: ");
        for (String command : List.of("pools", "leases", "decisions", "reload")) {
            // Something else that answers 200.
            assertThat(Fairgate.run(command, "--gateway", both.upstream().url(), "--endpoints", "/any"))
                    .as(command)
                    .isOne();
        }
        assertThat(output.getErr()).contains("/any/: status 200: ok (expected: the management port of a gateway with");
        assertThat(Fairgate.run("pools", "--gateway", "ftp://localhost")).isOne();
        assertThat(Fairgate.run("pools", "--gateway", "localhost")).isOne();
        assertThat(output.getErr()).contains("--gateway: localhost (expected: a URL such as");
    }

    @Test
    void quotas_show_what_is_left() {
        assertThat(Answer.to(both.gateway().url("/plain/x"), "X-Tenant-Id", "c").status())
                .isEqualTo(200);
        String url = both.gateway().managementUrl("/actuator/quotas/");
        assertThat(Answer.to(url + "c").body())
                .startsWith(
                        "[{\"quota\":\"minute\",\"kind\":\"rate\",\"limit\":5,\"most\":5,\"remaining\":4,\"untilFullSeconds\":")
                .endsWith(",\"enforced\":true}]");
        assertThat(Answer.to(url + "b").body()).isEqualTo("[]");
        assertThat(Answer.to(url + "nobody").status()).isEqualTo(404);
        assertThat(Answer.to(url + "no%20tenant").status()).isEqualTo(404);
    }

    @Test
    void a_gateway_with_pools_of_its_own_has_no_slices() {
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/cluster")).body())
                .isEqualTo("{}");
    }

    @Test
    void info_says_which_version_and_policy_run() {
        Answer info = Answer.to(both.gateway().managementUrl("/actuator/info"));
        assertThat(info.body())
                .contains("\"version\":\"fairgate ", "\"contents\":\"3 members, 1 pool, 2 routes\"")
                .containsPattern("\"sha256\":\"[0-9a-f]{64}\"");
    }
}
