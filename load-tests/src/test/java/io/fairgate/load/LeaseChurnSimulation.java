package io.fairgate.load;

import static io.gatling.javaapi.core.CoreDsl.StringBody;
import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.details;
import static io.gatling.javaapi.core.CoreDsl.dummy;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.jsonPath;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.responseTimeInMillis;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.fairgate.load.ChurnSettings.Party;
import io.gatling.javaapi.core.Assertion;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.time.Duration;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Do a batch job that leases permits and API traffic share one pool by their weights?
 *
 * <p>Both run at once, each as a closed loop. A user of the batch tenant acquires a lease, repeats that with the same key while
 * the answer is 202 (waiting), holds the lease for a moment and releases it. A user of the API tenant sends requests through
 * the gateway to an upstream that this simulation contains. Each tenant has more users than there are permits, so both are
 * always backlogged. After a warm-up, the permit-time of both is read from the gateway's meters, at the beginning and at the
 * end of the measured time. The build fails unless
 * <ul>
 *   <li>no call and no request fails,
 *   <li>the API tenant had {@code apiWeight / batchWeight} times the permit-time of the batch tenant, within a fifth,
 *   <li>some acquisition was repeated (otherwise no lease had to wait), and
 *   <li>at the end nothing is in flight and nothing waits.
 * </ul>
 *
 * <pre>
 * java -jar gateway/target/fairgate.jar serve --config config/examples/batch.yml --fairgate.leases.enabled=true
 * mvn -pl load-tests gatling:test -Dgatling.simulationClass=io.fairgate.load.LeaseChurnSimulation
 * </pre>
 *
 * <table>
 * <caption>Parameters, each as -Dname=value</caption>
 * <tr><td>gateway, leases, management</td><td>http://localhost:8080, :8000, :8081</td><td>its three ports</td></tr>
 * <tr><td>upstreamPort</td><td>9000</td><td>the port of the simulation's upstream, to which the route leads</td></tr>
 * <tr><td>pool, path</td><td>orders, /orders/</td><td>the pool, and a route that takes its permits</td></tr>
 * <tr><td>batchTenant, batchUsers, batchWeight</td><td>batch, 50, 1</td><td>the tenant with leases</td></tr>
 * <tr><td>apiTenant, apiUsers, apiWeight</td><td>api, 50, 3</td><td>the tenant with requests</td></tr>
 * <tr><td>seconds</td><td>20</td><td>length of the measured time</td></tr>
 * <tr><td>warmUpSeconds</td><td>10</td><td>length of the warm-up: a cold JVM holds permits for longer</td></tr>
 * <tr><td>allowRemote</td><td>false</td><td>true: the gateway may be another machine than this one</td></tr>
 * </table>
 *
 * <p>Tests in virtual time prove shares to within a hundredth; here the tenants also share other things, such as the
 * processor. The report is written below {@code load-tests/target/gatling}, also if the run fails.
 */
public final class LeaseChurnSimulation extends Simulation {

    private static final String ACQUIRE = "acquire";
    private static final String REPEAT = "acquire again, same key";
    private static final String RELEASE = "release";
    private static final String REQUEST = "request";
    private static final String METERS = "meters";
    private static final String AT_THE_END = "nothing in flight and nothing waiting";

    /** The largest relative distance from the ratio of the weights. */
    private static final double TOLERANCE = 0.2;

    /** Shorter than the wait for a lease, so that an acquisition must be repeated. */
    private static final String MAX_WAIT = "400ms";

    /** The most repetitions of one acquisition. */
    private static final int REPEATS = 60;

    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(100);

    /** Keeps all users at work until the meters are read for the last time. */
    private static final Duration AFTERWARDS = Duration.ofSeconds(2);

    /** The judgement begins when the requests end; leases may then still be held or waiting. */
    private static final Duration LAST_LEASES = Duration.ofSeconds(20);

    private final ChurnSettings settings = ChurnSettings.from(new Parameters(System::getProperty));
    private final String key = "churn-" + UUID.randomUUID() + "-";
    private final Measurements measurements = new Measurements(ACQUIRE, REPEAT, RELEASE, REQUEST);
    private final AtomicReference<@Nullable MetersPage> first = new AtomicReference<>();
    private final AtomicReference<@Nullable MetersPage> last = new AtomicReference<>();
    private final String verdict = "permit-time of %s to %s: wanted %.2f, within a fifth"
            .formatted(settings.api().tenant(), settings.batch().tenant(), wanted());

    private @Nullable SlowUpstream upstream;

    public LeaseChurnSimulation() {
        Duration all = wholeRun();
        setUp(
                        users("batch", settings.batch(), all, lease()),
                        users("api", settings.api(), all, request()).andThen(judgement()),
                        meters())
                .protocols(http.baseUrl(settings.ports().gateway().toString())
                        .disableFollowRedirect()
                        .disableCaching()
                        .userAgentHeader("fairgate-load-tests"))
                .assertions(
                        noFailure(ACQUIRE),
                        noFailure(REPEAT),
                        noFailure(RELEASE),
                        noFailure(REQUEST),
                        noFailure(verdict),
                        noFailure(AT_THE_END),
                        details(REPEAT).allRequests().count().gt(0L))
                .maxDuration(all.plusMinutes(2));
    }

    @Override
    public void before() {
        upstream = new SlowUpstream(settings.ports().upstream(), uri -> ChurnSettings.WORK);
        new GatewayProbe(settings.ports().gateway())
                .expectAnswer(settings.shared().path(), settings.api().tenant());
        new GatewayProbe(settings.ports().leases())
                .expectAnswer(
                        "/v1/pools/" + settings.shared().pool(),
                        settings.batch().tenant());
        new GatewayProbe(settings.ports().management())
                .expectAnswer("/actuator/prometheus", settings.batch().tenant());
    }

    @Override
    public void after() {
        if (upstream != null) {
            upstream.close();
        }
        System.out.println();
        System.out.print(measurements.table(wholeRun()));
        System.out.printf(
                Locale.ROOT,
                "permit-seconds in %d s: %s %.1f, %s %.1f%n%s: %.2f%n%n",
                settings.measured().toSeconds(),
                settings.api().tenant(),
                used(settings.api()),
                settings.batch().tenant(),
                used(settings.batch()),
                verdict,
                ratio());
    }

    private Duration wholeRun() {
        return settings.warmUp().plus(settings.measured()).plus(AFTERWARDS);
    }

    // ---- the tenants ----

    private PopulationBuilder users(String name, Party party, Duration time, ChainBuilder does) {
        ChainBuilder once = exec(does)
                .doIf(Session::isFailed)
                .then(pause(PAUSE_AFTER_FAILURE).exec(Session::markAsSucceeded));
        // The last iteration runs to its end, so that every lease is released.
        return scenario(name).during(time, false).on(once).injectOpen(atOnceUsers(party.users()));
    }

    private ChainBuilder request() {
        return exec(http(REQUEST)
                        .get(settings.shared().path())
                        .header(
                                NoisyNeighbourSimulation.TENANT_HEADER,
                                settings.api().tenant())
                        .check(status().is(200), responseTimeInMillis().saveAs(Measurements.MILLIS)))
                .exec(session -> measurements.measure(session, REQUEST));
    }

    private ChainBuilder lease() {
        return exec(session -> session.set("key", key + UUID.randomUUID()).remove("id"))
                .exec(acquire(ACQUIRE))
                .asLongAs(session -> "waiting".equals(session.getString("state")) && !session.isFailed(), "repeats")
                .on(exec(acquire(REPEAT))
                        .doIf(session -> session.getInt("repeats") >= REPEATS)
                        .then(exec(Session::markAsFailed)))
                .doIf(session -> !session.isFailed())
                .then(pause(ChurnSettings.WORK))
                .doIf(session -> session.contains("id"))
                .then(release());
    }

    private ChainBuilder acquire(String name) {
        HttpRequestActionBuilder call = http(name)
                .post(settings.ports().leases() + "/v1/pools/"
                        + settings.shared().pool() + "/leases")
                .header(NoisyNeighbourSimulation.TENANT_HEADER, settings.batch().tenant())
                .header("Idempotency-Key", "#{key}")
                .header("Content-Type", "application/json")
                .body(StringBody("{\"ttl\":\"30s\",\"maxWait\":\"" + MAX_WAIT + "\",\"holder\":\"churn\"}"))
                .check(
                        status().in(201, 202),
                        jsonPath("$.id").saveAs("id"),
                        jsonPath("$.state").saveAs("state"),
                        responseTimeInMillis().saveAs(Measurements.MILLIS));
        return exec(call).exec(session -> measurements.measure(session, name));
    }

    private ChainBuilder release() {
        return exec(http(RELEASE)
                        .delete(settings.ports().leases() + "/v1/leases/#{id}")
                        .header(
                                NoisyNeighbourSimulation.TENANT_HEADER,
                                settings.batch().tenant())
                        .check(status().is(204), responseTimeInMillis().saveAs(Measurements.MILLIS)))
                .exec(session -> measurements.measure(session, RELEASE));
    }

    // ---- the result ----

    /** Reads the meters while all users are at work. */
    private PopulationBuilder meters() {
        return scenario("meters")
                .pause(settings.warmUp())
                .exec(read(first))
                .pause(settings.measured())
                .exec(read(last))
                .injectOpen(atOnceUsers(1));
    }

    private ChainBuilder read(AtomicReference<@Nullable MetersPage> into) {
        return exec(http(METERS)
                        .get(settings.ports().management() + "/actuator/prometheus")
                        .check(status().is(200), bodyString().saveAs("page")))
                .exec(session -> {
                    into.set(new MetersPage(session.getString("page")));
                    return session;
                });
    }

    /** Reports the verdicts to Gatling as requests, as {@link NoisyNeighbourSimulation} does. */
    private PopulationBuilder judgement() {
        AtomicReference<@Nullable MetersPage> end = new AtomicReference<>();
        return scenario("judgement")
                .asLongAsDuring(session -> !isEmpty(end.get()), LAST_LEASES)
                .on(pause(PAUSE_AFTER_FAILURE).exec(read(end)))
                .exec(dummy(AT_THE_END, 0).withSuccess(session -> isEmpty(end.get())))
                .exec(dummy(verdict, 0).withSuccess(session -> Math.abs(ratio() / wanted() - 1) <= TOLERANCE))
                .injectOpen(atOnceUsers(1));
    }

    private boolean isEmpty(@Nullable MetersPage page) {
        String pool = settings.shared().pool();
        return page != null && page.inFlight(pool) == 0 && page.waiting(pool) == 0;
    }

    private double wanted() {
        return settings.api().weight() / settings.batch().weight();
    }

    private double ratio() {
        return used(settings.api()) / used(settings.batch());
    }

    private double used(Party party) {
        MetersPage from = first.get();
        MetersPage to = last.get();
        String pool = settings.shared().pool();
        return from == null || to == null
                ? Double.NaN
                : to.permitSeconds(pool, party.tenant()) - from.permitSeconds(pool, party.tenant());
    }

    private static Assertion noFailure(String name) {
        return details(name).failedRequests().count().is(0L);
    }
}
